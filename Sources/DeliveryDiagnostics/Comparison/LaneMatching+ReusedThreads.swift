extension LaneMatching {
    private static let maximumReused = 1000

    /// The id of a thread that has ended may be that of a later one: its lane is that of two threads.
    mutating func matchReusedThreads() {
        guard RunSide.allCases.allSatisfy({ reusable($0).count <= Self.maximumReused }) else { return }
        for side in RunSide.allCases {
            let other = side.opposite
            for lane in reusable(side) {
                let (lines, before) = (runs[side].lanes[Int(lane)].lines, mark)
                var (parts, rest, end) = ([Int32](), lines[...], Int32(-1))
                for part in reusable(other)
                where runs[other].lanes[Int(part)].key.label == runs[side].lanes[Int(lane)].key.label {
                    let own = runs[other].lanes[Int(part)].lines
                    guard own[0] > end, own.count <= rest.count,
                        zip(rest, own).allSatisfy({ side == .first ? match($0, $1) : match($1, $0) })
                    else { continue }
                    parts.append(part)
                    (rest, end) = (rest.dropFirst(own.count), own[own.count - 1])
                }
                guard rest.isEmpty, parts.count > 1 else {
                    undo(to: before)
                    continue
                }
                counterparts[side][Int(lane)] = parts[0]
                for part in parts { counterparts[other][Int(part)] = lane }
                matched += lines.count
                reuses.append(
                    Reuse(side: side, line: lines[0], others: parts.map { runs[other].lanes[Int($0)].lines[0] }))
            }
        }
    }

    /// The free lanes of threads with ids, except the main thread of a log, which writes first and does not end before
    /// others.
    private func reusable(_ side: RunSide) -> [Int32] {
        runs[side].lanes.indices.dropFirst().map(Int32.init).filter {
            runs[side].lanes[Int($0)].mayBeReused && isFree($0, side)
        }
    }
}
