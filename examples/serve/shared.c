/* A client of `articulus serve --shared PATH` in shared memory: proportional and derivative feedback.
   cc -O2 -std=c99 -D_POSIX_C_SOURCE=200809L shared.c -o shared && ./shared /dev/shm/arm 1000
   Arguments: path, number of states after which it ends. The first values are q and v; for processors of the x86 family. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    char magic[4];
    uint32_t version;
    volatile uint64_t state;   /* odd while the server writes */
    uint64_t tick;
    double time;
    uint64_t heard;
    uint32_t flags, values;
    volatile uint64_t command; /* odd while we write */
    uint64_t number;
    uint32_t commands, commands_at, text_at, text_size;
    volatile double value[];
} Shared;

int main(int argc, char **argv)
{
    const long wanted = argc > 2 ? atol(argv[2]) : 1000;
    const struct timespec nap = {0, 50000};
    const int file = open(argc > 1 ? argv[1] : "/dev/shm/arm", O_RDWR);
    struct stat size;
    uint64_t last = UINT64_MAX, before;
    double start[64], q[64], v[64];
    long heard = 0, silent = 0;
    uint32_t k, n;
    Shared *m;
    volatile double *u;
    if (file < 0 || fstat(file, &size) != 0 || size.st_size < (off_t)sizeof *m) { perror("articulus serve"); return 1; }
    m = mmap(NULL, (size_t)size.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (m == MAP_FAILED || memcmp(m->magic, "ATCM", 4) != 0 || m->version != 1) { fprintf(stderr, "no shared memory of articulus serve\n"); return 1; }
    n = m->values / 2;
    if (n > 64 || m->commands != n || m->commands_at + 8 * (uint64_t)n > (uint64_t)size.st_size) return 1;
    u = (volatile double *)((char *)m + m->commands_at);
    while (heard < wanted) {
        before = m->state;
        const uint64_t tick = *(volatile uint64_t *)&m->tick;
        for (k = 0; k < n; k++) { q[k] = m->value[k]; v[k] = m->value[n + k]; }
        if (before == 0 || before % 2 || m->state != before || tick == last) {
            if (++silent > 40000) { fprintf(stderr, "the server is silent\n"); return 1; }
            nanosleep(&nap, NULL);
            continue;
        }
        last = tick;
        silent = 0;
        if (heard++ == 0) memcpy(start, q, sizeof start);
        m->command |= 1;
        *(volatile uint64_t *)&m->number = (uint64_t)heard;
        for (k = 0; k < n; k++) u[k] = 100.0 * (start[k] - q[k]) - 20.0 * v[k];
        m->command++;
    }
    printf("tick %llu, flags %u, %ld states, off by", (unsigned long long)last, (unsigned)m->flags, heard);
    for (k = 0; k < n; k++) printf(" %.3g", q[k] - start[k]);
    printf("\n");
    return 0;
}
