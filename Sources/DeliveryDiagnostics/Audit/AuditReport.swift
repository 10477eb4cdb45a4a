internal import DeliveryRecording
internal import ThreadedNotifications

/// Formats an audit as text and as JSON.
package struct AuditReport {
    private let audit: Audit
    private let words: RecordWords
    private let lines: [Audit.Table: [Audit.Line]]

    package init(_ audit: Audit) {
        self.audit = audit
        words = RecordWords(audit.index)
        // An observer of any name has a line for each name that it received. Its registration then needs no line of its
        // own.
        let named = Set(audit.lines(.notifications).filter { $0.name >= 0 }.map(\.observer))
        lines = Dictionary(
            grouping: audit.lines.filter { line in
                line.table != .notifications || line.name >= 0 || line.observer < 0 || !named.contains(line.observer)
            }, by: \.table)
    }

    private var recording: Recording { audit.index.recording }

    // MARK: For people

    /// Lines of at most `width` characters, unless a single word is longer.
    package func text(width: Int = .max) -> [String] {
        let tables = Audit.Table.allCases.compactMap { table in lines[table].map { text(of: table, $0, width) } }
        return Array((tables + [verdict(width: width)]).joined(separator: [""]))
    }

    private func text(of table: Audit.Table, _ lines: [Audit.Line], _ width: Int) -> [String] {
        let sum = audit.sum(table)
        let columns = table.columns.filter { [.matched, .delivered].contains($0.count) || sum[$0.count] != 0 }
        var rows = lines.map { (counts: $0.counts, label: label($0)) }
        if rows.count > 1, table == .notifications { rows.append((sum, "total")) }
        // Numbers come first, so that long labels do not break their columns.
        let headings = columns.map { Table.Column.number($0.heading.replacing(" ", with: "\n")) }
        return Table(
            headings + [.wrapped(table.title)],
            rows: rows.map { row in
                columns.map { Quantity.exact(row.counts[$0.count]) } + [row.label]
            }
        ).lines(width: width)
    }

    private func label(_ line: Audit.Line) -> String {
        var label = line.table == .blocks ? "blocks" : words.name(line.name)
        if line.observer >= 0 {
            label += "  \(recording.describeObserver(line.observer))"
        } else if recording.processes.count > 1 {
            label += " of process \(recording.processes[Int(line.process)].id)"
        }
        guard line.table == .notifications else {
            return label + words.location(of: words.source(ofPost: line.firstPost), ", ")
        }
        if line.observer == Audit.unknownObserver { label += "  unknown observer" }
        if let target = target(line) {
            label += " on \(words.thread(target))"
        } else if !line.threads.isEmpty {
            label += " on \(words.threads(line.threads.sorted()))"
        }
        label += words.location(of: words.registered(line.observer), ", ")
        if !line.policies.isEmpty { label += ", dropped by " + line.policies.sorted().joined(separator: " and ") }
        return label
    }

    /// The thread that the observer was added for.
    private func target(_ line: Audit.Line) -> Int32? {
        audit.index.registration(of: line.observer).flatMap { $0.target < 0 ? nil : $0.target }
    }

    package var result: String {
        if audit.faults.count > 0 { return "\(counted(audit.faults.count, "fault")):" }
        let waiting = audit.waitingCount
        if waiting > 0 { return "\(waiting) waited when the recording ended: no fault, and no outcome" }
        return lines.isEmpty ? "nothing was posted" : "no faults"
    }

    private func verdict(width: Int) -> [String] {
        var text = [result] + descriptions(of: audit.faults, width: width)
        if audit.unknown.count > 0 || !audit.isComplete {
            let faults = audit.unknown.count > 0 ? ": \(counted(audit.unknown.count, "possible fault")):" : ""
            text.append("the recording is incomplete\(faults)")
            text += descriptions(of: audit.unknown, width: width)
        }
        return text
    }

    private func descriptions(of faults: AuditFaults, width: Int) -> [String] {
        let shown = faults.reported.prefix(20)
        let text = shown.flatMap { fault in
            WrappedText.lines(
                "\(words.source):\(audit.index.entry(fault.entry).line): \(fault.text)", width: width,
                indent: "  ", hanging: 2)
        }
        return faults.count > shown.count ? text + ["  and \(faults.count - shown.count) more"] : text
    }

    // MARK: For machines

    /// One JSON document with sorted keys.
    package func json() throws -> String {
        var document: [String: Any] = [
            "source": recording.source, "addsUp": audit.addsUp, "waitingCount": audit.waitingCount,
            "isTruncated": !audit.isComplete,
            "posted": audit.postCount,
            "faults": audit.faults.reported.map(object), "faultCount": audit.faults.count,
            "unknown": audit.unknown.reported.map(object), "unknownCount": audit.unknown.count,
        ]
        for table in Audit.Table.allCases { document[table.rawValue] = lines[table, default: []].map(object) }
        return try JSONText.of(document)
    }

    private func object(_ line: Audit.Line) -> [String: Any] {
        var object: [String: Any] = ["process": Int(recording.processes[Int(line.process)].id)]
        if line.name >= 0 { object["name"] = recording.strings[Int(line.name)] }
        for column in line.table.columns {
            object[column.heading == "target gone" ? "targetGone" : column.heading] = line.counts[column.count]
        }
        guard line.table == .notifications else { return object }
        object["threads"] = line.threads.sorted().map { recording.describeThread($0) }
        if line.observer >= 0 { object["observer"] = recording.observers[Int(line.observer)].number }
        if let target = target(line) { object["target"] = recording.describeThread(target) }
        if let location = audit.index.registration(of: line.observer).flatMap(recording.location) {
            object["location"] = location.description
        }
        if !line.policies.isEmpty { object["policies"] = line.policies.sorted() }
        return object
    }

    private func object(_ fault: AuditFault) -> [String: Any] {
        let entry = audit.index.entry(fault.entry)
        var object: [String: Any] = ["kind": fault.kind.rawValue, "text": fault.text, "line": Int(entry.line)]
        if entry.post >= 0 { object["post"] = recording.posts[Int(entry.post)].number }
        return object
    }
}

extension Audit.Table {
    fileprivate var title: String {
        switch self {
        case .notifications: "name and observer"
        case .unobserved: "name without an observer"
        case .queues: "in posting queues"
        case .blocks: "in mailboxes"
        }
    }

    /// The counts of the table, with the words for them.
    fileprivate var columns: [(count: AuditCount, heading: String)] {
        if self == .unobserved { return [(.matched, "posted")] }
        let own: [AuditCount: String] =
            switch self {
            case .queues: [.matched: "enqueued", .delivered: "posted", .cancelled: "dequeued"]
            case .blocks: [.matched: "enqueued", .delivered: "performed"]
            default: [:]
            }
        return AuditCount.allCases.map { ($0, own[$0] ?? $0.words) }
    }
}
