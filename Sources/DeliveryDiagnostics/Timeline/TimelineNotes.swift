internal import DeliveryRecording
internal import TerminalText

/// What a timeline says above and below its drawing.
extension Timeline {
    var summary: String {
        "\(counted(rows.count, "row")) of \(counted(recording.entries.count, "record")), "
            + "\(counted(recording.threads.count, "thread")), \(duration): \(recording.source)"
    }

    /// Where most happens in a large recording, and why this part is drawn.
    var overview: [String] { [busiest, window?.words].compactMap(\.self) }

    /// The time before a row if it is long.
    func pause(before row: Int) -> ElapsedTime? {
        guard rows.count > 2 else { return nil }
        let pause = time(of: rows[row]) - (row > 0 ? time(of: rows[row - 1]) : begin)
        return pause >= max(1_000_000, (end - begin) / 5) ? ElapsedTime(nanoseconds: pause) : nil
    }

    private static let largeRecording = 1000

    /// The second with the most records; a shorter time if the recording is short. Nil if it is not large.
    private var busiest: String? {
        let units: [(name: String, nanoseconds: Int64)] = [
            ("second", 1_000_000_000), ("100 ms", 100_000_000), ("10 ms", 10_000_000), ("ms", 1_000_000),
        ]
        guard recording.entries.count >= Self.largeRecording,
            let unit = units.first(where: { $0.nanoseconds * 2 <= duration.nanoseconds })
        else { return nil }
        var counts: [Int64: Int] = [:]
        // Times of a damaged file are limited so that sums do not overflow.
        for entry in recording.entries {
            counts[min(max(0, recording.elapsed(entry)), .max / 4) / unit.nanoseconds, default: 0] += 1
        }
        guard let most = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return nil }
        let (from, to) = (most.key * unit.nanoseconds, (most.key + 1) * unit.nanoseconds)
        return "Busiest \(unit.name): \(counted(most.value, "record")), --from \(ElapsedTime.exact(from)) "
            + "--to \(ElapsedTime.exact(to))."
    }

    /// Notes about everything that is not drawn, and how to show it, one per line.
    var notes: [String] {
        var notes: [String] = []
        func note(_ count: Int, _ words: String) {
            if count > 0 { notes.append("\(counted(count, "record")) \(words)") }
        }
        if !foldedLanes.isEmpty {
            let shown = foldedLanes.prefix(5).joined(separator: ", ")
            let more = foldedLanes.count > 5 ? " and \(foldedLanes.count - 5) more" : ""
            notes.append("One lane shows \(foldedLanes.count) threads that do not fit: \(shown)\(more).")
        }
        let from = ElapsedTime.exact(leftOut.limitReached)
        note(leftOut.beyondLimit, "left out: --from \(from) continues there, --limit 0 draws everything.")
        if leftOut.before + leftOut.after > 0 {
            let reason = window == nil ? ", by --from and --to" : ""
            notes.append(
                "\(counted(leftOut.before, "record")) before and \(leftOut.after) after the drawing left out\(reason).")
        }
        note(leftOut.filtered, "left out by --name, --thread or --post.")
        if !leftOut.undrawn.isEmpty {
            let counts = leftOut.undrawn.sorted { $0.key.rawValue < $1.key.rawValue }
            notes.append("Not drawn: " + counts.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ") + ".")
        }
        return notes
    }
}
