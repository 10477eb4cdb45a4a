/// Formats statistics as tables of at most 80 columns.
package struct StatisticsReport: Sendable {
    /// The property by which deliveries are grouped.
    package enum Grouping: String, Sendable, CaseIterable {
        case name
        case observer
        case thread
    }

    /// The maximum number of rows in the short tables.
    private static let shortest = 10

    private let statistics: DeliveryStatistics

    package init(_ statistics: DeliveryStatistics) {
        self.statistics = statistics
    }

    /// All tables in short form, or one grouping in full.
    package func text(by grouping: Grouping? = nil) -> String {
        let parts =
            switch grouping {
            case nil:
                [summary, times, short("name", statistics.names), short("observer", statistics.observers)]
                    + [short("thread", statistics.threads), mailboxes, notes]
            case .name: full("name", statistics.names) + [notes]
            case .observer: full("observer", statistics.observers) + [notes]
            case .thread: full("thread", statistics.threads) + [mailboxes, notes]
            }
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    // MARK: All

    private var summary: String {
        let total = statistics.total
        let threads = Self.counted(statistics.threadCount, "thread")
        let processes = statistics.processes > 1 ? " of \(statistics.processes) processes" : ""
        var lines = [
            "\(Self.counted(statistics.records, "record")) of \(threads)\(processes) in "
                + Quantity.time(statistics.nanoseconds)
        ]
        var parts = ["\(total.posted) posted"]
        if let rate = total.postsPerSecond, rate >= 0.01 { parts[0] += " (\(Quantity.number(rate)) a second)" }
        let performed = statistics.names.first { $0.label == DeliveryStatistics.blocks }?.delivered ?? 0
        parts.append("\(total.delivered - performed) delivered")
        if performed > 0 { parts.append("\(Self.counted(performed, "block")) performed") }
        let outcomes = [
            (total.coalesced, "coalesced"), (total.dropped, "dropped"), (total.cancelled, "cancelled"),
            (total.targetGone, "target gone"), (total.pending, "pending"),
        ]
        parts += outcomes.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        lines += Self.wrapped(parts)
        let queues = statistics.queues
        if queues.enqueued > 0 {
            let outcomes = [
                (queues.posted, "posted"), (queues.coalesced, "coalesced"), (queues.dequeued, "dequeued"),
                (queues.targetGone, "target gone"),
            ]
            lines += Self.wrapped(
                ["posting queues: \(queues.enqueued) enqueued"]
                    + outcomes.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" })
        }
        if statistics.drains > 0 {
            let perDrain = Quantity.number(Double(statistics.signals) / Double(statistics.drains))
            let lost = statistics.lostSignals > 0 ? " and \(statistics.lostSignals) lost" : ""
            lines.append(
                "\(statistics.signals) signals\(lost), \(statistics.drains) drains: \(perDrain) signals a drain")
        }
        return lines.joined(separator: "\n")
    }

    private var times: String {
        let total = statistics.total
        let rows: [(String, Distribution?)] = [
            ("post to delivery", total.postToDelivery), ("waiting in a mailbox", total.waiting),
            ("in a posting queue", statistics.queues.waiting), ("handler", total.handler),
            ("wait for others", statistics.waits),
        ]
        var table = [["time", "count", "p50", "p90", "p99", "p99.9", "max"]]
        table += rows.map { [$0] + Self.percentiles($1) { Quantity.time($0) } }
        table.append(
            ["deliveries a drain"]
                + Self.percentiles(statistics.deliveriesPerDrain) { Quantity.count($0.map { Int(clamping: $0) }) })
        return Self.table(table, widths: [23, 9, 9, 9, 9, 9, 9])
    }

    private var notes: String {
        var notes: [String] = []
        let total = statistics.total
        if total.neverReturned > 0 {
            notes.append("\(Self.counted(total.neverReturned, "handler")) did not return in the recording.")
        }
        let endless = statistics.mailboxes.reduce(0) { $0 + $1.endlessWaits }
        if endless > 0 { notes.append("\(Self.counted(endless, "wait")) did not end in the recording.") }
        if statistics.refusedWaits > 0 {
            let waits = Self.counted(statistics.refusedWaits, "wait")
            notes.append(
                "\(waits) \(statistics.refusedWaits == 1 ? "was" : "were") refused because of a deadlock.")
        }
        return notes.joined(separator: "\n")
    }

    // MARK: Groups

    private func short(_ title: String, _ groups: [DeliveryStatistics.Group]) -> String {
        guard !groups.isEmpty else { return "" }
        let rows = groups.prefix(Self.shortest).map { group in
            [group.label, Quantity.recorded(group.posted), Quantity.recorded(group.delivered)]
                + [group.postToDelivery?.p50, group.postToDelivery?.p99, group.postToDelivery?.max].map(Quantity.time)
                + [group.handler?.p50, group.handler?.max].map(Quantity.time)
        }
        let widths = [22, 8, 10, 8, 8, 8, 8, 8]
        let over = Self.table([["", "post to delivery", "handler"]], widths: [40, 24, 16])
        let heading = [title, "posted", "delivered", "p50", "p99", "max", "p50", "max"]
        let text = over + "\n" + Self.table([heading] + rows, widths: widths)
        let more = groups.count - rows.count
        return more <= 0 ? text : text + "\nand \(more) more: --by \(title)"
    }

    private func full(_ title: String, _ groups: [DeliveryStatistics.Group]) -> [String] {
        guard !groups.isEmpty else { return ["There are no records of any \(title)."] }
        let counts = groups.map { group in
            [group.label]
                + [
                    group.posted, group.delivered, group.coalesced, group.dropped, group.cancelled, group.targetGone,
                    group.pending,
                ].map(Quantity.recorded)
        }
        let heading = [title, "posted", "delivered", "coalesced", "dropped", "cancelled", "gone", "pending"]
        let measures: [(String, KeyPath<DeliveryStatistics.Group, Distribution?>)] = [
            ("post to delivery", \.postToDelivery), ("waiting in a mailbox", \.waiting), ("handler", \.handler),
        ]
        return [Self.table([heading] + counts, widths: [18, 8, 10, 10, 8, 10, 8, 8])]
            + measures.map { measure, path in
                let rows = groups.map { group in
                    [group.label] + Self.percentiles(group[keyPath: path]) { Quantity.time($0) }
                }
                let heading = [measure, "count", "p50", "p90", "p99", "p99.9", "max"]
                return Self.table([heading] + rows, widths: [23, 9, 9, 9, 9, 9, 9])
            }
    }

    private var mailboxes: String {
        guard !statistics.mailboxes.isEmpty else { return "" }
        let over = Self.table([["", "waiting", "deliveries a drain"]], widths: [15, 16, 34])
        let heading = ["mailbox of", "highest", "mean", "signals", "drains", "mean", "max", "waits", "waited"]
        let rows = statistics.mailboxes.map { mailbox in
            [
                mailbox.label, Quantity.count(mailbox.highestDepth), Quantity.number(mailbox.meanDepth),
                Quantity.recorded(mailbox.signals), Quantity.recorded(mailbox.drains),
                Quantity.number(mailbox.deliveriesPerDrain?.mean),
                Quantity.count(mailbox.deliveriesPerDrain.map { Int(clamping: $0.max) }),
                Quantity.recorded((mailbox.waits?.count ?? 0) + mailbox.endlessWaits),
                Quantity.time(mailbox.waits?.sum),
            ]
        }
        return over + "\n" + Self.table([heading] + rows, widths: [15, 8, 8, 8, 8, 9, 9, 6, 8])
    }

    // MARK: Cells

    /// Joins the parts with commas, in lines of at most 80 columns.
    private static func wrapped(_ parts: [String]) -> [String] {
        parts.reduce(into: [String]()) { lines, part in
            if let last = lines.last, last.count + part.count + 3 <= 80 {
                lines[lines.count - 1] = "\(last), \(part)"
            } else if let last = lines.last {
                lines[lines.count - 1] = "\(last),"
                lines.append("  \(part)")
            } else {
                lines.append(part)
            }
        }
    }

    private static func percentiles(
        _ distribution: Distribution?, _ text: (UInt64?) -> String
    ) -> [String] {
        [Quantity.count(distribution?.count)]
            + [distribution?.p50, distribution?.p90, distribution?.p99, distribution?.p999, distribution?.max].map(text)
    }

    private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// Aligns the first column to the left and the others to the right. Shortens long cells of the first column.
    private static func table(_ rows: [[String]], widths: [Int]) -> String {
        rows.map { row in
            var line = ""
            for (column, (cell, width)) in zip(row, widths).enumerated() {
                let cell = column == 0 ? label(cell, width: width - 1) : cell
                let padding = String(repeating: " ", count: max(0, width - cell.count))
                line += column == 0 ? cell + padding : padding + cell
            }
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    private static func label(_ text: String, width: Int) -> String {
        // Names may contain newlines, but each row of a table is one line.
        let isControl = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory == .control }
        let line = String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "\u{FFFD}" : $0 }))
        return line.count > width ? "\(line.prefix(width - 1))…" : line
    }
}
