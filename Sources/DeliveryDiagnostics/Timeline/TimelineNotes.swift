internal import DeliveryRecording
internal import TerminalText

/// The texts above and below the drawing of a timeline.
extension Timeline {
    /// The size of the recording, not of the part that is drawn.
    var size: String {
        let duration = ElapsedTime(nanoseconds: max(0, recording.entries.last.map(recording.elapsed) ?? 0))
        return "\(counted(recording.threads.count, "thread")), \(duration), "
            + counted(recording.entries.count, "record")
    }

    /// Where most happens in a large recording, and why this part is drawn.
    var overview: [String] { [busiest, window?.words].compactMap(\.self) }

    /// The time before a row if it is long: `35.8 ms later`.
    func pause(before row: Int) -> String? {
        guard rows.count > 2 else { return nil }
        let pause = time(of: rows[row]) - (row > 0 ? time(of: rows[row - 1]) : begin)
        return pause >= max(1_000_000, (end - begin) / 5) ? "\(ElapsedTime(nanoseconds: pause)) later" : nil
    }

    /// The second with the most records of a recording with at least a thousand.
    private var busiest: String? {
        var counts: [Int64: Int] = [:]
        for entry in recording.entries { counts[max(0, recording.elapsed(entry)) / 1_000_000_000, default: 0] += 1 }
        guard recording.entries.count >= 1000, counts.count > 1,
            let most = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })
        else { return nil }
        return "Busiest second: \(counted(most.value, "record")), --from \(most.key)s --to \(most.key + 1)s."
    }

    /// Notes about everything that is not drawn, and how to show it, one per line.
    var notes: [String] {
        let limit = limitReached.map { time in
            "The drawing ends at \(rows.count) rows: --from \(ElapsedTime.exact(time)) continues there, --limit 0 draws "
                + "everything."
        }
        let selection = unselected == 0 ? nil : "\(counted(unselected, "record")) not selected."
        let signals = undrawn == 0 ? nil : "\(counted(undrawn, "record")) of drains and signals not drawn."
        return [limit, selection, signals].compactMap(\.self)
    }
}
