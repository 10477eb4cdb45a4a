/// Maps times to positions on a line of limited length. Between two events the scale is linear.
///
/// Unless it is linear as a whole, long times without events are cut out, and events close to each other are moved
/// apart if there is space.
struct TimelineScale: Sendable {
    /// A time that is cut out, and its position.
    struct Cut: Sendable {
        var times: ClosedRange<Int64>
        var begin: Double

        var middle: Double { begin + TimelineScale.cutLength / 2 }
        var duration: ElapsedTime { ElapsedTime(nanoseconds: times.upperBound - times.lowerBound) }
    }

    private let times: [Int64]
    private var positions: [Double] = []
    private(set) var cuts: [Cut] = []
    /// True if nothing is cut out or moved apart.
    private(set) var isLinear = true

    /// Leaves space for the label between two cuts.
    private static let cutLength = 56.0
    private static let maximumCuts = 6
    /// As a share of the remaining time. Shorter gaps are not cut.
    private static let minimumShare = 0.06
    /// As a multiple of the longest remaining gap. Gaps of similar lengths are not cut.
    private static let minimumRatio = 3.0
    private static let maximumDistance = 7.0
    private static let tickDistance = 84.0

    /// - Parameter busy: times in which something lasts; they are not cut.
    init(moments: [Int64], busy: [ClosedRange<Int64>] = [], length: Double, isLinear: Bool = false) {
        times = Set(moments).sorted()
        let gaps = zip(times, times.dropFirst()).map { Double($1 - $0) }
        let cut = isLinear ? [] : Self.cuts(of: gaps, times: times, busy: busy)
        let room = max(1, length - Double(cut.count) * Self.cutLength)
        let apart = isLinear ? 0 : min(Self.maximumDistance, room * 0.5 / Double(max(1, gaps.count)))
        let scale = Self.scale(of: gaps.indices.filter { !cut.contains($0) }.map { gaps[$0] }, apart, room: room)
        if !times.isEmpty { positions = [0] }
        for (index, gap) in gaps.enumerated() {
            let isCut = cut.contains(index)
            if isCut { cuts.append(Cut(times: times[index]...times[index + 1], begin: positions[index])) }
            if isCut || apart > gap * scale { self.isLinear = false }
            positions.append(positions[index] + (isCut ? Self.cutLength : max(apart, gap * scale)))
        }
    }

    private static func cuts(of gaps: [Double], times: [Int64], busy: [ClosedRange<Int64>]) -> Set<Int> {
        var (next, busyUntil) = (0, Int64.min)
        let busy = busy.sorted { $0.lowerBound < $1.lowerBound }
        let idle = gaps.indices.filter { gap in
            while next < busy.count, busy[next].lowerBound < times[gap + 1] {
                busyUntil = max(busyUntil, busy[next].upperBound)
                next += 1
            }
            return busyUntil <= times[gap]
        }
        let longest = idle.sorted { (gaps[$1], $0) < (gaps[$0], $1) }.prefix(maximumCuts + 1)
        let longestBusy = Set(gaps.indices).subtracting(idle).map { gaps[$0] }.max() ?? .infinity
        var (left, count) = (gaps.reduce(0, +), 0)
        for (number, gap) in longest.prefix(maximumCuts).enumerated() where gaps[gap] > left * minimumShare {
            left -= gaps[gap]
            let remaining = number + 1 < longest.count ? gaps[longest[number + 1]] : longestBusy
            if gaps[gap] >= remaining * minimumRatio { count = number + 1 }
        }
        return Set(longest.prefix(count))
    }

    /// The length of a nanosecond at which all gaps just fit.
    private static func scale(of gaps: [Double], _ apart: Double, room: Double) -> Double {
        guard let longest = gaps.max(), longest > 0 else { return 0 }
        if apart == 0 { return room / gaps.reduce(0, +) }
        var (low, high) = (0.0, room / longest)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if gaps.reduce(0, { $0 + max(apart, $1 * middle) }) > room { high = middle } else { low = middle }
        }
        return low
    }

    /// Times outside the scale are at its ends.
    func position(of time: Int64) -> Double {
        guard let first = times.first, time > first else { return 0 }
        var (low, high) = (0, times.count - 1)
        guard time < times[high] else { return positions[high] }
        while high - low > 1 {
            let middle = (low + high) / 2
            if times[middle] <= time { low = middle } else { high = middle }
        }
        let share = Double(time - times[low]) / Double(times[high] - times[low])
        return positions[low] + share * (positions[high] - positions[low])
    }

    /// Round times at a distance that leaves space for labels, and the end of each cut.
    var ticks: [(position: Double, label: String)] {
        guard let first = times.first, let last = times.last, let length = positions.last, length > 0 else { return [] }
        let time = cuts.reduce(Double(last - first)) { $0 - Double($1.duration.nanoseconds) }
        let step = Self.roundStep(
            atLeast: time * Self.tickDistance / max(1, length - Double(cuts.count) * Self.cutLength))
        var ticks: [(position: Double, label: String)] = []
        func add(_ time: Int64, step: Int64) {
            let position = position(of: time)
            if let last = ticks.last, position - last.position < Self.tickDistance * 0.75 { return }
            ticks.append((position, Self.label(time, step: step)))
        }
        for (begin, end) in zip([first] + cuts.map(\.times.upperBound), cuts.map(\.times.lowerBound) + [last]) {
            add(begin, step: max(1, step / 10))
            for time in stride(from: begin / step * step + step, through: end, by: Int(step)) { add(time, step: step) }
        }
        return ticks
    }

    /// 1, 2 or 5 times a power of ten.
    private static func roundStep(atLeast least: Double) -> Int64 {
        let powers = sequence(first: Int64(1)) { $0 < 100_000_000_000_000_000 ? $0 * 10 : nil }
        return powers.lazy.flatMap { [$0, $0 * 2, $0 * 5] }.first { Double($0) >= least } ?? 500_000_000_000_000_000
    }

    /// In the unit of its magnitude, with enough decimals to distinguish it from the next step.
    private static func label(_ time: Int64, step: Int64) -> String {
        let units: [(name: String, nanoseconds: Int64)] = [("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1000)]
        guard time > 0 else { return "0" }
        let unit = units.first { time >= $0.nanoseconds } ?? ("ns", 1)
        var (decimals, size) = (0, unit.nanoseconds)
        while size > step, size >= 10, decimals < 6 { (decimals, size) = (decimals + 1, size / 10) }
        return ElapsedTime.decimal(time, per: unit.nanoseconds, decimals: decimals, keepsZeros: false) + " \(unit.name)"
    }
}
