/// Formats a list of labels for a log line: `a 1 2`, and ten or more consecutive numbers as `7…1030`.
enum LabelRun {
    private static let shortest = 10

    static func text(of labels: [String]) -> String {
        var parts: [String] = []
        var begin = 0
        while begin < labels.count {
            var end = begin + 1
            while end < labels.count, let number = Int(labels[end - 1]), Int(labels[end]) == number + 1 { end += 1 }
            if end - begin >= shortest {
                parts.append("\(labels[begin])…\(labels[end - 1])")
            } else {
                parts += labels[begin..<end]
            }
            begin = end
        }
        return parts.joined(separator: " ")
    }
}
