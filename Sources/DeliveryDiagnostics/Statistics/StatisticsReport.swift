internal import DeliveryRecording
internal import TerminalText

/// Formats statistics as tables of at most 80 columns.
package struct StatisticsReport: Sendable {
    package enum Grouping: String, Sendable, CaseIterable {
        case name, observer, thread
    }

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
        if let grouping { return table(by: grouping, isInFull: true) }
        let groups = Grouping.allCases.map { table(by: $0, isInFull: false) }
        return ([summary, times] + groups + [mailboxes, links]).filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var summary: String {
        let (total, processes) = (statistics.total, statistics.processCount)
        let blocks = statistics.names.first { $0.label == DeliveryStatistics.blocks }?.counts ?? Accounts.Counts()
        var notifications = total.counts
        for count in Self.outcomes + [.matched] { notifications[count] -= blocks[count] }
        func sum(_ counts: Accounts.Counts, _ what: String, _ own: [Accounts.Count: String] = [:]) -> String {
            counts[.matched] == 0
                ? "" : "\(counts[.matched]) \(what): \(counts.words(of: Self.outcomes, called: own))"
        }
        return [
            "\(counted(statistics.recordCount, "record")) of \(counted(statistics.threadCount, "thread"))"
                + "\(processes > 1 ? " of \(processes) processes" : "") in \(ElapsedTime.text(statistics.nanoseconds))",
            "\(total.posts) posted" + (total.unobserved > 0 ? " (\(total.unobserved) without an observer)" : ""),
            sum(notifications, "matched"),
            sum(blocks, blocks[.matched] == 1 ? "block" : "blocks", [.delivered: "performed"]),
            sum(statistics.queues, "enqueued in posting queues", [.delivered: "posted", .cancelled: "dequeued"]),
        ].filter { !$0.isEmpty }.flatMap { WrappedText.lines($0, width: width, hanging: 2) }.joined(separator: "\n")
    }

    private var times: String {
        let total = statistics.total
        let rows = [
            ("post to delivery", total.postToDelivery), ("waiting in a mailbox", total.waiting),
            ("handler", total.handler),
        ].map { [$0, Quantity.exact($1?.count ?? 0)] + Self.cells($1) }
        return table([.text("time", width: 22...22), .number("count", minimum: 7)] + Self.columns(nil), rows)
    }

    private func table(by grouping: Grouping, isInFull: Bool) -> String {
        let groups =
            switch grouping {
            case .name: statistics.names
            case .observer: statistics.observers
            case .thread: statistics.threads
            }
        let shown = groups.prefix(isInFull ? .max : 10)
        if shown.isEmpty { return isInFull ? "There are no records of any \(grouping.rawValue)." : "" }
        let used = Self.outcomes.filter { count in count == .delivered || shown.contains { $0.counts[count] > 0 } }
        let label = Table.Column.text(grouping.rawValue, width: 22...(isInFull ? 40 : 22))
        let counts = [grouping == .observer ? "matched" : "posted"] + used.map { $0.words.replacing(" ", with: "\n") }
        let rows = shown.map { group in
            [ShownText.escaped(group.label + (isInFull ? group.location.map { ", \($0)" } ?? "" : ""))]
                + ([group.posts] + used.map { group.counts[$0] }).map(Quantity.exact)
                + Self.cells(group.postToDelivery) + [group.handler?.p50, group.handler?.max].map(ElapsedTime.cell)
        }
        return table(
            [label] + counts.map { .number($0) } + Self.columns("post to delivery")
                + Self.columns("handler", ["p50", "max"]), rows)
            + (groups.count > shown.count
                ? "\nand \(groups.count - shown.count) more: --by \(grouping.rawValue)" : "")
    }

    private var mailboxes: String {
        let rows = statistics.mailboxes.map { mailbox in
            [ShownText.escaped(mailbox.label), "\(mailbox.appended)", "\(mailbox.highestDepth)"]
        }
        return table([.text("mailbox of", width: 22...22), .number("appended"), .number("most waiting")], rows)
    }

    private var links: String {
        let columns: [Table.Column] = [
            .text("posted by process", width: 18...18), .text("received by", width: 18...18), .number("notifications"),
        ]
        let rows = statistics.betweenProcesses.map { link in
            [link.sender, link.receiver ?? "none recorded", "\(link.notifications)"].map { ShownText.escaped($0) }
                + Self.cells(link.times)
        }
        return table(columns + Self.columns("until it was received"), rows)
    }

    private func table(_ columns: [Table.Column], _ rows: [[String]]) -> String {
        rows.isEmpty ? "" : Table(columns, rows: rows, spacing: 1).lines(width: width).joined(separator: "\n")
    }

    private static func columns(_ group: String?, _ headings: [String] = ["p50", "p99", "max"]) -> [Table.Column] {
        headings.map { .number($0, group: group, minimum: 7) }
    }

    private static func cells(_ times: Distribution?) -> [String] {
        [times?.p50, times?.p99, times?.max].map(ElapsedTime.cell)
    }
}
