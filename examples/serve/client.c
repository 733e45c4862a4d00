/* A client of `articulus serve`: holds a mechanism where it is with proportional and derivative feedback.
   cc -O2 -std=c99 -D_POSIX_C_SOURCE=200809L client.c -o client && ./client 47470 1000
   Arguments: port, number of states after which it ends. The first values are q and v, as `articulus serve` sends them; the computer is little-endian. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { HEAD = 36, MOST = 65000 };
static unsigned char in[MOST], out[MOST];
static double start[64];

static double number(const unsigned char *at) { double x; memcpy(&x, at, 8); return x; }

int main(int argc, char **argv)
{
    const int port = argc > 1 ? atoi(argv[1]) : 47470;
    const long wanted = argc > 2 ? atol(argv[2]) : 1000;
    const double kp = 100.0, kd = 20.0;
    struct sockaddr_in server;
    struct timeval patience = {1, 0};
    uint64_t sent = 0, tick = 0;
    uint32_t flags = 0, count = 0;
    long heard = 0;
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    memset(&server, 0, sizeof server);
    server.sin_family = AF_INET;
    server.sin_port = htons((uint16_t)port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (s < 0 || connect(s, (struct sockaddr *)&server, sizeof server) != 0 || send(s, "ATCH", 4, 0) != 4) {
        perror("articulus serve");
        return 1;
    }
    while (heard < wanted) {
        uint32_t k, n;
        const ssize_t got = recv(s, in, sizeof in, 0);
        if (got < 0) { fprintf(stderr, "no answer from port %d\n", port); return 1; }
        if (got < HEAD || memcmp(in, "ATCS", 4) != 0) continue;
        memcpy(&tick, in + 4, 8);
        memcpy(&flags, in + 28, 4);
        memcpy(&count, in + 32, 4);
        n = count / 2;
        if (n > 64 || got != (ssize_t)(HEAD + 8 * count)) return 1;
        sent++;
        memcpy(out, "ATCC", 4);
        memcpy(out + 4, &sent, 8);
        for (k = 0; k < n; k++) {
            const double q = number(in + HEAD + 8 * k), v = number(in + HEAD + 8 * (n + k));
            double u;
            if (heard == 0) start[k] = q;
            u = kp * (start[k] - q) - kd * v;
            memcpy(out + 12 + 8 * k, &u, 8);
        }
        send(s, out, 12 + 8 * n, 0);
        heard++;
    }
    printf("tick %llu, flags %u, %ld states, off by", (unsigned long long)tick, (unsigned)flags, heard);
    for (uint32_t k = 0; k < count / 2; k++) printf(" %.3g", number(in + HEAD + 8 * k) - start[k]);
    printf("\n");
    close(s);
    return 0;
}
