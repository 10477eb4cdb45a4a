extension Timeline {
    mutating func mapLanes(_ lane: (Int) -> Int) {
        for index in items.indices { items[index].lane = lane(items[index].lane) }
        for index in arrows.indices {
            arrows[index].fromLane = lane(arrows[index].fromLane)
            arrows[index].toLane = lane(arrows[index].toLane)
        }
    }

    /// The timeline with at most this many lanes. The busiest lanes stay; the others share the last one.
    package func folded(toLanes most: Int) -> Timeline {
        let most = max(1, most)
        guard lanes.count > most else { return self }
        var uses = [Int](repeating: 0, count: lanes.count)
        for item in items { uses[item.lane] += item.count }
        for arrow in arrows { uses[arrow.fromLane] += 1 }
        let busiest = lanes.indices.sorted { (uses[$1], $0) < (uses[$0], $1) }
        let kept = busiest.prefix(most - 1).sorted()
        let others = lanes.indices.filter { !kept.contains($0) }
        var laneOf = [Int](repeating: kept.count, count: lanes.count)
        for (lane, index) in kept.enumerated() { laneOf[index] = lane }
        var folded = self
        folded.foldedLanes = others.map { lanes[$0].title }
        folded.lanes = kept.map { lanes[$0] }
        folded.lanes.append(
            Lane(
                title: "\(others.count) others", details: folded.foldedLanes.joined(separator: ", "),
                begin: others.map { lanes[$0].begin }.min() ?? 0, end: others.map { lanes[$0].end }.max() ?? 0,
                threads: others.count, waiting: others.reduce(0) { $0 + lanes[$1].waiting }))
        folded.mapLanes { laneOf[$0] }
        return folded
    }
}

extension Timeline.Item {
    /// Appends a later similar item to this one.
    mutating func append(_ other: Timeline.Item) {
        count += other.count
        end = max(end, other.end)
        lastPost = other.lastPost
        label.waiting += other.label.waiting
        longest = max(longest, other.longest)
        if let mine = latency, let its = other.latency {
            latency = min(mine.lowerBound, its.lowerBound)...max(mine.upperBound, its.upperBound)
        }
    }
}
