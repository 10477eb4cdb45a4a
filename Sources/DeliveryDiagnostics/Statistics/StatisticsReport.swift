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

    /// All tables in short form, or one grouping in full.
    package func text(by grouping: Grouping? = nil) -> String {
        let parts =
            switch grouping {
            case nil: [summary, times] + Grouping.allCases.map(short) + [mailboxes, links, notes]
            case .thread?: full(.thread) + [mailboxes, notes]
            case let grouping?: full(grouping) + [notes]
            }
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var summary: String {
        let (total, queues) = (statistics.total, statistics.queues)
        let (processes, rate) = (statistics.processCount, total.postsPerSecond ?? 0)
        let blocks = statistics.names.first { $0.label == DeliveryStatistics.blocks }?.counts ?? Accounts.Counts()
        var notifications = total.counts
        for count in Accounts.Count.allCases { notifications[count] -= blocks[count] }
        let left = queues.posted + queues.coalesced + queues.dequeued + queues.targetGone
        let enqueued = [
            (queues.posted, "posted"), (queues.coalesced, "coalesced"), (queues.dequeued, "dequeued"),
            (queues.targetGone, "target gone"), (queues.enqueued - left, "pending"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        let size = "\(counted(statistics.recordCount, "record")) of \(counted(statistics.threadCount, "thread"))"
        let ofProcesses = processes > 1 ? " of \(processes) processes" : ""
        let posted = "\(total.posts) posted" + (rate >= 0.01 ? " (\(Quantity.number(rate)) a second)" : "")
        let signals =
            counted(statistics.signals, "signal")
            + (statistics.lostSignals > 0 ? " and \(statistics.lostSignals) lost" : "")
        let perDrain = Quantity.number(Double(statistics.signals) / Double(statistics.drains))
        return [
            "\(size)\(ofProcesses) in \(ElapsedTime.cell(statistics.nanoseconds))",
            posted + (total.unobserved > 0 ? ", \(total.unobserved) without an observer" : ""),
            Self.sum(notifications, "matched"),
            Self.sum(blocks, blocks[.matched] == 1 ? "block" : "blocks", called: [.delivered: "performed"]),
            queues.enqueued > 0 ? "\(queues.enqueued) enqueued in posting queues: \(enqueued)" : "",
            statistics.drains > 0
                ? "\(signals), \(counted(statistics.drains, "drain")): \(perDrain) signals a drain" : "",
        ].filter { !$0.isEmpty }.flatMap { WrappedText.lines($0, width: width, hanging: 2) }.joined(separator: "\n")
    }

    /// For example `8 matched: 3 delivered, 5 dropped`; empty if there is nothing.
    private static func sum(
        _ counts: Accounts.Counts, _ matched: String, called own: [Accounts.Count: String] = [:]
    ) -> String {
        counts[.matched] == 0 ? "" : "\(counts[.matched]) \(matched): " + counts.words(of: outcomes, called: own)
    }

    private var times: String {
        let total = statistics.total
        let rows: [(String, Distribution?)] = [
            ("post to delivery", total.postToDelivery), ("waiting in a mailbox", total.waiting),
            ("in a posting queue", statistics.queues.waiting), ("handler", total.handler),
            ("wait for others", statistics.waits),
        ]
        let perDrain = Self.cells(statistics.deliveriesPerDrain) { Quantity.count($0.map { Int(clamping: $0) }) }
        return percentiles(of: "time", rows.map { [$0] + Self.cells($1) } + [["deliveries a drain"] + perDrain])
    }

    private var notes: String {
        let endless = statistics.mailboxes.reduce(0) { $0 + $1.endlessWaits }
        let verb = statistics.refusedWaits == 1 ? "was" : "were"
        return [
            (statistics.total.neverReturned, "handler", "did not return in the recording."),
            (endless, "wait", "did not end in the recording."),
            (statistics.refusedWaits, "wait", "\(verb) refused because of a deadlock."),
        ].filter { $0.0 > 0 }.map { "\(counted($0, $1)) \($2)" }.joined(separator: "\n")
    }

    // MARK: Groups

    private func groups(_ grouping: Grouping) -> [DeliveryStatistics.Group] {
        switch grouping {
        case .name: statistics.names
        case .observer: statistics.observers
        case .thread: statistics.threads
        }
    }

    private func short(_ grouping: Grouping) -> String {
        let groups = groups(grouping)
        let rows = groups.prefix(Self.shortest).map { group in
            let (latency, handler) = (group.postToDelivery, group.handler)
            return [Self.label(group), Quantity.recorded(group.posts), Quantity.recorded(group.counts[.delivered])]
                + [latency?.p50, latency?.p99, latency?.max, handler?.p50, handler?.max].map(ElapsedTime.cell)
        }
        if rows.isEmpty { return "" }
        let columns: [Table.Column] =
            [
                .text(grouping.rawValue, width: 22...22), .number(grouping == .observer ? "matched" : "posted"),
                .number("delivered"),
            ] + ["p50", "p99", "max"].map { .number($0, group: "post to delivery", minimum: 7) }
            + ["p50", "max"].map { .number($0, group: "handler", minimum: 7) }
        let more = groups.count - rows.count
        return table(columns, rows) + (more > 0 ? "\nand \(more) more: --by \(grouping.rawValue)" : "")
    }

    private func full(_ grouping: Grouping) -> [String] {
        let groups = groups(grouping)
        guard !groups.isEmpty else { return ["There are no records of any \(grouping.rawValue)."] }
        let measures: [(String, KeyPath<DeliveryStatistics.Group, Distribution?>)] = [
            ("post to delivery", \.postToDelivery), ("waiting in a mailbox", \.waiting), ("handler", \.handler),
        ]
        return [counts(of: groups, grouping)]
            + (groups.contains(where: \.isUsed) ? measures : []).map { measure, path in
                percentiles(of: measure, groups.map { [Self.label($0)] + Self.cells($0[keyPath: path]) })
            }
    }

    private func counts(of groups: [DeliveryStatistics.Group], _ grouping: Grouping) -> String {
        let used = Self.outcomes.filter { outcome in
            outcome == .delivered || groups.contains { $0.counts[outcome] > 0 }
        }
        let shown = [.matched] + used
        let headings = shown.map { Table.Column.number($0.words.replacing(" ", with: "\n")) }
        // Numbers come first, so that long labels do not break their columns, if there is space for both.
        if grouping == .observer, shown.count <= 6 {
            let rows = groups.map { group in
                shown.map { Quantity.exact(group.counts[$0]) } + [Self.description(group)]
            }
            return table(headings + [.wrapped("\(grouping)")], rows, spacing: 2)
        }
        let (isPosted, areUnobserved) = (grouping != .observer, groups.contains { $0.unobserved > 0 })
        let first: [Table.Column] =
            [.text("\(grouping)", width: 18...18)] + (isPosted ? [.number("posted")] : [])
            + (areUnobserved ? [.number("without\nobserver")] : [])
        return table(
            first + headings,
            groups.map { group in
                let posts = (isPosted ? [group.posts] : []) + (areUnobserved ? [group.unobserved] : [])
                return [Self.label(group)] + (posts + shown.map { group.counts[$0] }).map(Quantity.recorded)
            })
    }

    /// For example `Done  observer 1 on worker, Demo/main.swift:7, dropped by keepLatest`.
    private static func description(_ group: DeliveryStatistics.Group) -> String {
        let number = group.label.dropLast(group.name.map { $0.count + 1 } ?? 0)
        let threads = group.threads.isEmpty ? "" : " on \(RecordWords.list(group.threads.map { Excerpt.of($0) }))"
        let policies = group.policies.isEmpty ? "" : ", dropped by \(group.policies.joined(separator: " and "))"
        return "\(group.name.map { Excerpt.of($0) } ?? "any name")  observer \(number)\(threads)"
            + (group.location.map { ", \(Excerpt.of($0))" } ?? "") + policies
    }

    // MARK: Tables

    private var mailboxes: String {
        let rows = statistics.mailboxes.map { mailbox in
            [
                ShownText.escaped(mailbox.label), Quantity.count(mailbox.highestDepth),
                Quantity.number(mailbox.meanDepth), Quantity.recorded(mailbox.signals),
                Quantity.recorded(mailbox.drains), Quantity.number(mailbox.deliveriesPerDrain?.mean),
                Quantity.count(mailbox.deliveriesPerDrain.map { Int(clamping: $0.max) }),
                Quantity.recorded((mailbox.waits?.count ?? 0) + mailbox.endlessWaits),
                ElapsedTime.cell(mailbox.waits?.sum),
            ]
        }
        let (depth, drain) = ("waiting", "deliveries a drain")
        let columns: [Table.Column] = [
            .text("mailbox of", width: 14...14), .number("highest", group: depth),
            .number("mean", group: depth, minimum: 7), .number("signals", minimum: 7), .number("drains", minimum: 7),
            .number("mean", group: drain, minimum: 8), .number("max", group: drain, minimum: 8), .number("waits"),
            .number("waited", minimum: 7),
        ]
        return rows.isEmpty ? "" : table(columns, rows)
    }

    private var links: String {
        let columns: [Table.Column] = [
            .text("posted by process", width: 18...18), .text("received by", width: 18...18), .number("notifications"),
        ]
        let rows = statistics.betweenProcesses.map { link in
            [
                ShownText.escaped(link.sender), link.receiver.map { ShownText.escaped($0) } ?? "none recorded",
                Quantity.recorded(link.notifications),
            ] + [link.times?.p50, link.times?.p99, link.times?.max].map(ElapsedTime.cell)
        }
        let times = ["p50", "p99", "max"].map { Table.Column.number($0, group: "until it was received", minimum: 7) }
        return rows.isEmpty ? "" : table(columns + times, rows)
    }

    private func percentiles(of what: String, _ rows: [[String]]) -> String {
        let times = ["p50", "p90", "p99", "p99.9", "max"].map { Table.Column.number($0, minimum: 7) }
        return table([.text(what, width: 22...22), .number("count", minimum: 7)] + times, rows, spacing: 2)
    }

    private func table(_ columns: [Table.Column], _ rows: [[String]], spacing: Int = 1) -> String {
        Table(columns, rows: rows, spacing: spacing).lines(width: width).joined(separator: "\n")
    }

    /// The count and the percentiles.
    private static func cells(_ times: Distribution?, _ text: (UInt64?) -> String = ElapsedTime.cell) -> [String] {
        [Quantity.count(times?.count)] + [times?.p50, times?.p90, times?.p99, times?.p999, times?.max].map(text)
    }

    /// Names may contain newlines, but each row of a table is one line.
    private static func label(_ group: DeliveryStatistics.Group) -> String { ShownText.escaped(group.label) }
}
