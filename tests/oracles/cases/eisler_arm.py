"""Arm of Eisler, Segalman & Robinett 1989: frequencies of the convected chain, and the fastest line of the rigid arm."""

import numpy as np
from convected import Chain
from scipy.optimize import linprog

BRACKET, MOTOR = 1e5, 5.415
LENGTHS = 0.6745, 0.593
BEGIN, END = np.array([0.0, 1.13]), np.array([1.13, 0.0])
SEGMENTS = ([(0.0635, 0.545), (0.504, 0.640), (0.107, MOTOR / 2)], [(0.104, 0.830), (0.489, 0.313)])


def chain(EI):
    def parts(link, stiff):
        return [
            piece
            for (length, mass), EI_k, n in zip(link, stiff, (1, 3, 1))
            for piece in [(length / n, mass / n, EI_k)] * n
        ]

    return Chain(
        [parts(SEGMENTS[0], (BRACKET, EI, BRACKET)), parts(SEGMENTS[1], (BRACKET, EI))],
        points=[(0, MOTOR / 2)],
    )


def start(place=BEGIN):
    """Return the absolute angles of the links, elbow to the right of the line from the hub."""
    a, b = LENGTHS
    D = np.linalg.norm(place)
    first = np.arctan2(place[1], place[0]) - np.arccos((a * a + D * D - b * b) / (2 * a * D))
    rest = place - a * np.array([np.cos(first), np.sin(first)])
    return np.array([first, np.arctan2(rest[1], rest[0])])


def frequencies():
    made = chain(100.0)
    n, (a, b) = len(made.M), made.starts
    unit = np.eye(n)
    nodes = np.delete(unit, [a, b], axis=1)  # inner ends of both links fixed
    joints = np.delete(unit, [a, b - 1, b], axis=1)  # angles at the hub and between the links locked
    joints = np.column_stack([joints, unit[b - 1] + unit[b]])
    angles = start()
    return [made.hertz(angles, basis) for basis in (nodes, joints, unit)]


def moments():
    """Return masses, first and second moments of the rigid links about their inner joints."""
    out = []
    for link, load in zip(SEGMENTS, (MOTOR / 2, 0.0)):
        x, total, first, second = 0.0, load, 0.0, 0.0
        for length, mass in link:
            total, first = total + mass, first + mass * (x + length / 2)
            second += mass * (length**2 / 12 + (x + length / 2) ** 2)
            x += length
        out.append((total, first + load * x, second + load * x * x))
    return out


def rigid_time(points=300):
    """Return the least time on the line within 16 and 4 N m: backward and forward through linear programs in (s'', s'^2)."""
    (_, _, I1), (m2, f2, I2) = moments()
    a = LENGTHS[0]
    s = np.linspace(0, 1, points + 1)
    ds = s[1]
    way = END - BEGIN

    def path(x):
        return start(BEGIN + x * way)

    def torque(x):
        """Return (by s'', by s'^2) of the joint torques."""
        h = 1e-4
        x = np.clip(x, h, 1 - h)
        q, low, high = path(x), path(x - h), path(x + h)
        d, dd = (high - low) / (2 * h), (high - 2 * q + low) / h**2
        c, k = f2 * a * np.cos(q[0] - q[1]), f2 * a * np.sin(q[0] - q[1])
        M = np.array([[I1 + m2 * a * a, c], [c, I2]])
        absolute = M @ d, M @ dd + k * np.array([d[1] ** 2, -(d[0] ** 2)])
        return [np.array([f.sum(), f[1]]) for f in absolute]

    steps = [torque(x + ds / 2) for x in s[:-1]]
    limit = np.array([16.0, 4.0])
    most = np.zeros(points + 1)
    for k in range(points - 1, -1, -1):
        u, w = steps[k]
        # torque at the middle: u s'' + w (b + ds s''), b at the beginning
        rows = np.column_stack([u + w * ds, w])
        A = np.vstack([rows, -rows, [[2 * ds, 1], [-2 * ds, -1]]])
        found = linprog(
            [0, -1], A_ub=A, b_ub=[*limit, *limit, most[k + 1], 0], bounds=[(None, None), (0, 1e3)]
        )
        most[k] = found.x[1]
    b = np.zeros(points + 1)
    for k in range(points):
        u, w = steps[k]
        rows = u + w * ds
        ends = np.sort(np.array([(limit - w * b[k]) / rows, (-limit - w * b[k]) / rows]), axis=0)
        push = min(ends[1].min(), (most[k + 1] - b[k]) / (2 * ds))
        b[k + 1] = max(b[k] + 2 * ds * push, 0.0)
    r = np.sqrt(b)
    return (2 * ds / (r[1:] + r[:-1])).sum()


def expected():
    nodes, joints, free = frequencies()
    return {
        "EI = 100, inner ends of the links fixed: second frequency [Hz]": nodes[1],
        "EI = 100, joints locked: first frequency [Hz]": joints[0],
        "EI = 100, joints locked: second frequency [Hz]": joints[1],
        "EI = 100, joints free: first frequency [Hz]": free[0],
        "rigid arm on the line, exact: time [s]": rigid_time(),
    }
