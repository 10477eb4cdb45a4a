internal import DeliveryRecording

extension Timeline {
    /// Notes about everything that is not drawn, and how to show it, one per line.
    var notes: [String] {
        var notes: [String] = []
        if !foldedLanes.isEmpty {
            let shown = foldedLanes.prefix(5).joined(separator: ", ")
            let more = foldedLanes.count > 5 ? " and \(foldedLanes.count - 5) more" : ""
            notes.append("One lane shows \(foldedLanes.count) threads that do not fit: \(shown)\(more).")
        }
        if leftOut.beyondLimit > 0 {
            let from = ElapsedTime.exact(leftOut.limitReached)
            notes.append(
                "\(counted(leftOut.beyondLimit, "record")) left out: --from \(from) continues there, --limit 0 draws everything."
            )
        }
        if leftOut.before + leftOut.after > 0 {
            notes.append(
                "\(counted(leftOut.before, "record")) before and \(leftOut.after) after the drawing left out, by --from and --to."
            )
        }
        if leftOut.filtered > 0 {
            notes.append("\(counted(leftOut.filtered, "record")) left out by --name, --thread or --post.")
        }
        if !leftOut.undrawn.isEmpty {
            let counts = leftOut.undrawn.sorted { $0.key.rawValue < $1.key.rawValue }
            notes.append("Not drawn: " + counts.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ") + ".")
        }
        return notes
    }
}
