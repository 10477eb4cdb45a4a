internal import DeliveryRecording
internal import TerminalText

/// Formats statistics as tables of at most 80 columns.
package struct StatisticsReport: Sendable {
    package enum Grouping: String, Sendable, CaseIterable {
        case name, observer, thread
    }

    private static let shortest = 10
    private static let outcomes: [Accounts.Count] = [
        .delivered, .coalesced, .dropped, .cancelled, .targetGone, .pending, .lost,
    ]

    private let statistics: DeliveryStatistics
    private let width: Int

    /// - Parameter width: the maximum width of a line. Columns that do not fit are below the others.
    package init(_ statistics: DeliveryStatistics, width: Int = 80) {
        (self.statistics, self.width) = (statistics, width)
    }

    /// All tables with their first rows, or one grouping in full.
    package func text(by grouping: Grouping? = nil) -> String {
        let parts =
            grouping.map { [table(by: $0, most: .max)] }
            ?? [summary, times] + Grouping.allCases.map { table(by: $0, most: Self.shortest) } + [mailboxes, links]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var summary: String {
        let (total, queues, processes) = (statistics.total, statistics.queues, statistics.processCount)
        let blocks = statistics.names.first { $0.label == DeliveryStatistics.blocks }?.counts ?? Accounts.Counts()
        var notifications = total.counts
        for count in Self.outcomes + [.matched] { notifications[count] -= blocks[count] }
        return [
            "\(counted(statistics.recordCount, "record")) of \(counted(statistics.threadCount, "thread"))"
                + "\(processes > 1 ? " of \(processes) processes" : "") in \(ElapsedTime.cell(statistics.nanoseconds))",
            "\(total.posts) posted" + (total.unobserved > 0 ? " (\(total.unobserved) without an observer)" : ""),
            Self.sum(notifications, "matched"),
            Self.sum(blocks, blocks[.matched] == 1 ? "block" : "blocks", [.delivered: "performed"]),
            Self.sum(queues, "enqueued in posting queues", [.delivered: "posted", .cancelled: "dequeued"]),
        ].filter { !$0.isEmpty }.flatMap { WrappedText.lines($0, width: width, hanging: 2) }.joined(separator: "\n")
    }

    /// For example `8 matched: 3 delivered, 5 dropped`; empty if there is nothing.
    private static func sum(
        _ counts: Accounts.Counts, _ matched: String, _ own: [Accounts.Count: String] = [:]
    ) -> String {
        counts[.matched] == 0 ? "" : "\(counts[.matched]) \(matched): " + counts.words(of: outcomes, called: own)
    }

    private var times: String {
        let total = statistics.total
        let rows = [
            ("post to delivery", total.postToDelivery), ("waiting in a mailbox", total.waiting),
            ("handler", total.handler),
        ].map { [$0, Quantity.count($1?.count)] + Self.cells($1) }
        return table([.text("time", width: 22...22), .number("count", minimum: 7)] + Self.columns(), rows)
    }

    private func table(by grouping: Grouping, most: Int) -> String {
        let groups =
            switch grouping {
            case .name: statistics.names
            case .observer: statistics.observers
            case .thread: statistics.threads
            }
        let shown = groups.prefix(most)
        if shown.isEmpty { return most == .max ? "There are no records of any \(grouping.rawValue)." : "" }
        let used = Self.outcomes.filter { count in count == .delivered || shown.contains { $0[count] > 0 } }
        let more = groups.count - shown.count
        let isInFull = most == .max
        return table(
            [
                .text(grouping.rawValue, width: 22...(isInFull ? 40 : 22)),
                .number(grouping == .observer ? "matched" : "posted"),
            ] + used.map { .number($0.words.replacing(" ", with: "\n")) } + Self.columns("post to delivery")
                + [.number("p50", group: "handler", minimum: 7), .number("max", group: "handler", minimum: 7)],
            shown.map { group in
                let location = isInFull ? group.location.map { ", \($0)" } ?? "" : ""
                return [ShownText.escaped(group.label + location)]
                    + ([group.posts] + used.map { group[$0] }).map(Quantity.recorded)
                    + Self.cells(group.postToDelivery)
                    + [group.handler?.p50, group.handler?.max].map(ElapsedTime.cell)
            }) + (more > 0 ? "\nand \(more) more: --by \(grouping.rawValue)" : "")
    }

    private var mailboxes: String {
        let rows = statistics.mailboxes.map { mailbox in
            [ShownText.escaped(mailbox.label)]
                + [mailbox.appended, mailbox.highestDepth, mailbox.signals, mailbox.drains].map(Quantity.recorded)
        }
        let headings = ["appended", "most waiting", "signals", "drains"]
        return rows.isEmpty ? "" : table([.text("mailbox of", width: 22...22)] + headings.map { .number($0) }, rows)
    }

    private var links: String {
        let columns: [Table.Column] = [
            .text("posted by process", width: 18...18), .text("received by", width: 18...18), .number("notifications"),
        ]
        let rows = statistics.betweenProcesses.map { link in
            [
                ShownText.escaped(link.sender), link.receiver.map { ShownText.escaped($0) } ?? "none recorded",
                Quantity.recorded(link.notifications),
            ] + Self.cells(link.times)
        }
        return rows.isEmpty ? "" : table(columns + Self.columns("until it was received"), rows)
    }

    private func table(_ columns: [Table.Column], _ rows: [[String]]) -> String {
        Table(columns, rows: rows, spacing: 1).lines(width: width).joined(separator: "\n")
    }

    private static func columns(_ group: String? = nil) -> [Table.Column] {
        ["p50", "p99", "max"].map { .number($0, group: group, minimum: 7) }
    }

    private static func cells(_ times: Distribution?) -> [String] {
        [times?.p50, times?.p99, times?.max].map(ElapsedTime.cell)
    }
}
