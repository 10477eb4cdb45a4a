extension LogMatching {
    /// At most three pairs of lines in another order, each once in its log, with different times.
    func inversions() -> [LogComparison.Inversion] {
        func once(_ side: RunSide) -> [Int: Int] {
            var found: [Int: Int] = [:]
            for (message, text) in correspondence.skeletons[side].enumerated() {
                found[text] = found[text] == nil ? message : -1
            }
            return found.filter { $0.value >= 0 }
        }
        let (first, second) = (once(.first), once(.second))
        let common = first.compactMap { text, message in second[text].map { Pair(message, $0) } }
            .sorted { $0.first < $1.first }
        func areInverted(_ one: Pair<Int>, _ other: Pair<Int>) -> Bool {
            RunSide.allCases.allSatisfy { side in
                let (time, otherTime) = (logs[side].messages[one[side]].time, logs[side].messages[other[side]].time)
                return laneOfMessage[side][one[side]] != laneOfMessage[side][other[side]]
                    && (time == nil || time != otherTime)
            }
        }
        var found: [LogComparison.Inversion] = []
        var (latest, used): (Pair<Int>?, Pair<Int>?) = (nil, nil)
        for pair in common where found.count < 3 {
            guard let last = latest, pair.second < last.second else {
                latest = pair
                continue
            }
            guard used?.first != last.first, areInverted(last, pair) else { continue }
            used = last
            func line(_ message: Int, _ side: RunSide) -> Int { logs[side].messages[message].line }
            found.append(
                LogComparison.Inversion(
                    texts: (logs.first.messages[last.first].text, logs.first.messages[pair.first].text),
                    lines: Pair(
                        (line(last.first, .first), line(pair.first, .first)),
                        (line(last.second, .second), line(pair.second, .second)))))
        }
        return found
    }
}
