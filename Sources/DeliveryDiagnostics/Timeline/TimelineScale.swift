/// Maps times to positions on a line of limited length. Long times without events are cut out, and events close to each
/// other are moved apart if there is space. Between two events the scale is linear.
struct TimelineScale: Sendable, Hashable {
    /// A time that is cut out.
    struct Cut: Sendable, Hashable {
        var begin: Int64
        var end: Int64
        var beginsAt: Double
        var endsAt: Double
    }

    /// A time that is drawn wider than the scale, because events would touch.
    struct Stretch: Sendable, Hashable {
        var beginsAt: Double
        var endsAt: Double
        /// The length that the scale would give it.
        fileprivate var natural: Double

        /// For example `2.4` or `120`.
        var factor: String {
            let factor = (endsAt - beginsAt) / max(natural, 1e-9)
            guard factor >= 9.95 else { return SVG.number(factor) }
            let size = factor < 100 ? 1.0 : factor < 1000 ? 10 : 100
            return factor < 1e6 ? SVG.number((factor / size).rounded() * size) : "1000000"
        }
    }

    struct Tick: Sendable, Hashable {
        var time: Int64
        var position: Double
        var label: String
    }

    /// Ascending, without duplicates.
    private let times: [Int64]
    private let positions: [Double]
    let cuts: [Cut]
    let stretches: [Stretch]

    /// Leaves space for the label between two cuts.
    static let cutLength = 56.0
    private static let maximumCuts = 6
    /// Stretches that are closer to each other are shown as one.
    private static let stretchDistance = 16.0
    private static let minimumStretch = 1.5
    /// As a share of the remaining time. Shorter gaps are not cut.
    private static let minimumShare = 0.06
    /// As a multiple of the longest remaining gap. Gaps of similar lengths are not cut.
    private static let minimumRatio = 3.0
    private static let maximumDistance = 7.0
    private static let tickDistance = 84.0

    /// - Parameters:
    /// - moments: the times of events, in any order.
    /// - busy: times with more events than `moments` has; they are not cut.
    init(moments: [Int64], busy: [ClosedRange<Int64>] = [], length: Double) {
        let times = Set(moments).sorted()
        let gaps = zip(times, times.dropFirst()).map { Double($1 - $0) }
        let isCut = Self.cuts(of: gaps, times: times, busy: busy)
        let cutCount = Double(isCut.count { $0 })
        let room = max(1, length - cutCount * Self.cutLength)
        let apart = min(Self.maximumDistance, room * 0.5 / Double(max(1, gaps.count)))
        let scale = Self.scale(gaps: gaps, isCut: isCut, apart: apart, room: room)
        var position = 0.0
        var positions = times.isEmpty ? [] : [0.0]
        var cuts: [Cut] = []
        var stretches: [Stretch] = []
        for (index, gap) in gaps.enumerated() {
            let begin = position
            position += isCut[index] ? Self.cutLength : max(apart, gap * scale)
            positions.append(position)
            if isCut[index] {
                cuts.append(
                    Cut(begin: times[index], end: times[index + 1], beginsAt: begin, endsAt: position))
            } else if position - begin > gap * scale * Self.minimumStretch {
                let last = stretches.last
                let isNear = last.map {
                    begin - $0.endsAt < Self.stretchDistance && $0.endsAt >= (cuts.last?.endsAt ?? 0)
                }
                if let last, isNear == true {
                    // The scale holds between them.
                    stretches[stretches.count - 1].natural += begin - last.endsAt + gap * scale
                    stretches[stretches.count - 1].endsAt = position
                } else {
                    stretches.append(Stretch(beginsAt: begin, endsAt: position, natural: gap * scale))
                }
            }
        }
        self.times = times
        self.positions = positions
        self.cuts = cuts
        self.stretches = stretches.filter { $0.endsAt - $0.beginsAt > $0.natural * Self.minimumStretch }
    }

    private static func cuts(of gaps: [Double], times: [Int64], busy: [ClosedRange<Int64>]) -> [Bool] {
        var isCut = [Bool](repeating: false, count: gaps.count)
        let idle = idleGaps(between: times, busy: busy)
        let longest = idle.sorted { gaps[$0] > gaps[$1] }
        var left = gaps.reduce(0, +)
        var count = 0
        for (index, gap) in longest.dropLast().prefix(maximumCuts).enumerated() {
            guard gaps[gap] > left * minimumShare else { break }
            left -= gaps[gap]
            if gaps[gap] >= gaps[longest[index + 1]] * minimumRatio { count = index + 1 }
        }
        for gap in longest.prefix(count) { isCut[gap] = true }
        return isCut
    }

    private static func idleGaps(between times: [Int64], busy: [ClosedRange<Int64>]) -> [Int] {
        var busyUntil = Int64.min
        var next = 0
        let busy = busy.sorted { $0.lowerBound < $1.lowerBound }
        return times.indices.dropLast().filter { index in
            while next < busy.count, busy[next].lowerBound < times[index + 1] {
                busyUntil = max(busyUntil, busy[next].upperBound)
                next += 1
            }
            return busyUntil <= times[index]
        }
    }

    /// The length of a nanosecond at which everything just fits.
    private static func scale(gaps: [Double], isCut: [Bool], apart: Double, room: Double) -> Double {
        let open = zip(gaps, isCut).filter { !$1 }.map(\.0)
        guard let longest = open.max(), longest > 0 else { return 0 }
        var (low, high) = (0.0, room / longest)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            let length = open.reduce(0) { $0 + max(apart, $1 * middle) }
            if length > room { high = middle } else { low = middle }
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

    // MARK: Ticks

    /// Round times at a distance that leaves space for labels, and the end of each cut.
    var ticks: [Tick] {
        guard let first = times.first, let last = times.last, let length = positions.last, length > 0 else { return [] }
        let cutTime = cuts.reduce(0.0) { $0 + Double($1.end - $1.begin) }
        let room = length - Double(cuts.count) * Self.cutLength
        let step = Self.roundStep(atLeast: (Double(last - first) - cutTime) * Self.tickDistance / max(1, room))
        var ticks: [Tick] = []
        let begins = [first] + cuts.map(\.end)
        for (begin, end) in zip(begins, cuts.map(\.begin) + [last]) {
            add(begin, step: max(1, step / 10), to: &ticks)
            var time = begin / step * step + step
            while time <= end {
                add(time, step: step, to: &ticks)
                time += step
            }
        }
        return ticks
    }

    private func add(_ time: Int64, step: Int64, to ticks: inout [Tick]) {
        let position = position(of: time)
        if let last = ticks.last, position - last.position < Self.tickDistance * 0.75 { return }
        ticks.append(Tick(time: time, position: position, label: Self.label(time, step: step)))
    }

    /// 1, 2 or 5 times a power of ten.
    static func roundStep(atLeast least: Double) -> Int64 {
        var power: Int64 = 1
        while power < 1_000_000_000_000_000_000 / 10 {
            for factor in [1, 2, 5] as [Int64] where Double(power * factor) >= least { return power * factor }
            power *= 10
        }
        return power
    }

    /// In the unit of its magnitude, with enough decimals to distinguish it from the next step.
    static func label(_ time: Int64, step: Int64) -> String {
        let units: [(name: String, nanoseconds: Int64)] = [("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1000)]
        guard time > 0 else { return "0" }
        let unit = units.first { time >= $0.nanoseconds } ?? ("ns", 1)
        var (decimals, size) = (0, unit.nanoseconds)
        while size > step, size >= 10, decimals < 6 { (decimals, size) = (decimals + 1, size / 10) }
        return ElapsedTime.decimal(time, per: unit.nanoseconds, decimals: decimals, keepsZeros: false) + " \(unit.name)"
    }
}
