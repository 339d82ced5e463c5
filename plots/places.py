"""Where names stand on a chart, so that none covers another: plain arithmetic on one axis."""

from __future__ import annotations


def spread(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Ascending places as near to the ascending `wanted` as a gap between neighbours allows, inside [low, high]."""
    if not wanted:
        return []
    gap = min(gap, (high - low) / len(wanted))
    clusters: list[list[float]] = []  # each [sum of wanted - offset, members]; a cluster sits tightly, gap apart
    for want in wanted:
        clusters.append([want, 1])
        while len(clusters) > 1 and (place(clusters[-2], gap, low, high)[1] + gap
                                     > place(clusters[-1], gap, low, high)[0]):
            total, members = clusters.pop()
            clusters[-1][0] += total - members * clusters[-1][1] * gap
            clusters[-1][1] += members
    return [place(cluster, gap, low, high)[0] + i * gap for cluster in clusters for i in range(int(cluster[1]))]


def uncrossed(starts: list[tuple[float, float]], x: float, places: list[float]) -> list[float]:
    """The places at x in another order: a straight line from each start to its place crosses no other. All starts lie left of x."""
    order = list(places)
    while True:
        pairs = [(i, j) for j in range(len(order)) for i in range(j) if crosses(starts[i], order[i], starts[j], order[j], x)]
        if not pairs:
            return order
        i, j = pairs[0]
        order[i], order[j] = order[j], order[i]  # which makes all lines together shorter, so that this ends


def crosses(a: tuple[float, float], end_a: float, b: tuple[float, float], end_b: float, x: float) -> bool:
    """Whether the lines from a to (x, end_a) and from b to (x, end_b) do, by more than a touch."""
    if a[0] > b[0]:
        a, end_a, b, end_b = b, end_b, a, end_a
    above = a[1] + (end_a - a[1]) * (b[0] - a[0]) / (x - a[0])  # where a's line passes b
    return (above - b[1]) * (end_a - end_b) < -1e-9


def below(lines: list[float], off: float, gap: float) -> list[float]:
    """For each of the descending `lines` a place at least `off` below it, `off` from all others and `gap` apart."""
    places: list[float] = []
    for line in lines:
        y = line - off
        while True:
            lower = [other - off for other in lines if abs(y - other) < 0.999 * off]
            lower += [other - gap for other in places if abs(y - other) < 0.999 * gap]
            if not lower:
                break
            y = min(lower)
        places.append(y)
    return places


def place(cluster: list[float], gap: float, low: float, high: float) -> tuple[float, float]:
    """The first and last place of a cluster, as near to its members' mean wish as the bounds allow."""
    total, members = cluster
    length = (members - 1) * gap
    first = min(max(total / members, low), high - length)
    return first, first + length
