internal import DeliveryRecording
internal import ThreadedNotifications

/// Formats an audit as text and as JSON.
package struct AuditReport {
    private let audit: Audit
    private let lines: [Audit.Line]
    private let words: RecordWords

    package init(_ audit: Audit) {
        self.audit = audit
        words = RecordWords(audit.index)
        // An observer of any name has a line for each name that it received. Its registration then needs no line of its
        // own.
        let named = Set(audit.lines.filter { $0.name >= 0 }.map(\.observer))
        lines = audit.lines.filter { $0.name >= 0 || $0.observer < 0 || !named.contains($0.observer) }
    }

    private var recording: Recording { audit.recording }

    // MARK: For people

    /// Lines of at most `width` characters, unless a single word is longer.
    package func text(width: Int = .max) -> [String] {
        var sections: [[String]] = []
        if !lines.isEmpty {
            sections.append(table(lines.map { ($0.counts, label($0)) }, of: "name and observer", width))
        }
        if !audit.unobserved.isEmpty {
            sections.append(
                numbers(
                    ["posted"], of: "name without an observer",
                    audit.unobserved.map { line in
                        let location = words.location(
                            of: words.source(ofPost: audit.index.entry(line.first).post), ", ")
                        return ([line.count], words.name(line.name) + ofProcess(line.process) + location)
                    }, width))
        }
        if !audit.queues.isEmpty {
            let columns = Self.queueColumns.filter { column in
                column.isAlwaysShown || audit.queues.contains { $0.counters[keyPath: column.counter] != 0 }
            }
            sections.append(
                numbers(
                    columns.map(\.heading), of: "in posting queues",
                    audit.queues.map { line in
                        (
                            columns.map { line.counters[keyPath: $0.counter] },
                            words.name(line.name) + ofProcess(line.process)
                        )
                    }, width))
        }
        if !audit.blocks.isEmpty {
            sections.append(
                table(audit.blocks.map { ($0.counts, "blocks" + ofProcess($0.process)) }, of: "performed", width))
        }
        return Array((sections + [verdict(width: width)]).joined(separator: [""]))
    }

    private static var queueColumns: [(heading: String, counter: KeyPath<DeliveryCounters, Int>, isAlwaysShown: Bool)] {
        [
            ("enqueued", \.total, true), ("posted", \.delivered, true), ("coalesced", \.coalesced, false),
            ("dequeued", \.cancelled, false), ("target gone", \.targetGone, false), ("waiting", \.waiting, false),
        ]
    }

    private func table(_ rows: [(counts: AuditCounters, label: String)], of what: String, _ width: Int) -> [String] {
        var sum = AuditCounters()
        for row in rows { sum += row.counts }
        let all = rows.count > 1 ? rows + [(sum, "total")] : rows
        let columns = AuditCounters.all.filter { column in
            ["posted", "delivered"].contains(column.name) || sum[keyPath: column.counter] != 0
        }
        return numbers(
            columns.map(\.name), of: what,
            all.map { row in (columns.map { row.counts[keyPath: $0.counter] }, row.label) }, width)
    }

    /// Numbers come first, so that long labels do not break their columns.
    private func numbers(
        _ headings: [String], of what: String, _ rows: [(numbers: [Int], label: String)], _ width: Int
    ) -> [String] {
        let columns = headings.map { Table.Column.number($0.replacing(" ", with: "\n")) } + [.wrapped(what)]
        return Table(columns, rows: rows.map { $0.numbers.map(Quantity.exact) + [$0.label] }).lines(width: width)
    }

    private func ofProcess(_ process: Int32) -> String {
        recording.processes.count > 1 ? " of process \(recording.processes[Int(process)].id)" : ""
    }

    private func label(_ line: Audit.Line) -> String {
        var label = words.name(line.name)
        if line.observer >= 0 {
            label += "  \(recording.describeObserver(line.observer))"
        } else {
            label += ofProcess(line.process)
            if line.observer == Audit.unknownObserver { label += "  unknown observer" }
        }
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

    /// The line that states whether there are faults.
    package var result: String {
        if audit.faults.count > 0 { return "\(counted(audit.faults.count, "fault")):" }
        let isEmpty = lines.isEmpty && audit.blocks.isEmpty && audit.queues.isEmpty && audit.unobserved.isEmpty
        return isEmpty ? "nothing was posted" : "no faults"
    }

    private func verdict(width: Int) -> [String] {
        var text = [result] + descriptions(of: audit.faults, width: width)
        if audit.unknown.count > 0 || !audit.isComplete {
            let faults = audit.unknown.count > 0 ? ": \(counted(audit.unknown.count, "possible fault")):" : ""
            text.append("the recording is truncated\(faults)")
            text += descriptions(of: audit.unknown, width: width)
        }
        return text
    }

    private func descriptions(of faults: AuditFaults, width: Int) -> [String] {
        let shown = faults.reported.prefix(20)
        let text = shown.flatMap { fault in
            let line = fault.entry < 0 ? 0 : audit.index.entry(fault.entry).line
            return WrappedText.lines(
                "\(recording.source):\(line): \(fault.text)", width: width, indent: "  ", hanging: 2)
        }
        return faults.count > shown.count ? text + ["  and \(faults.count - shown.count) more"] : text
    }

    // MARK: For machines

    /// One JSON document with sorted keys.
    package func json() throws -> String {
        try JSONText.of([
            "file": recording.source, "addsUp": audit.addsUp, "isTruncated": !audit.isComplete,
            "notifications": lines.map(object), "blocks": audit.blocks.map(object),
            "queues": audit.queues.map { queue in
                Dictionary(
                    uniqueKeysWithValues: Self.queueColumns.map { column in
                        (
                            Self.key(column.heading),
                            queue.counters[keyPath: column.counter]
                        )
                    }
                ).merging(self.object(queue.process, queue.name)) { $1 }
            },
            "unobserved": audit.unobserved.map { line in
                object(line.process, line.name).merging(["posted": line.count]) { $1 }
            },
            "faults": audit.faults.reported.map(object), "faultCount": audit.faults.count,
            "unknown": audit.unknown.reported.map(object), "unknownCount": audit.unknown.count,
        ])
    }

    /// The key of a counter.
    private static func key(_ name: String) -> String { name == "target gone" ? "targetGone" : name }

    private func object(_ process: Int32, _ name: Int32) -> [String: Any] {
        var object: [String: Any] = ["process": Int(recording.processes[Int(process)].id)]
        if name >= 0 { object["notification"] = recording.strings[Int(name)] }
        return object
    }

    private func object(_ line: Audit.Line) -> [String: Any] {
        var object = object(line.process, line.name)
        for (name, counter) in AuditCounters.all { object[Self.key(name)] = line.counts[keyPath: counter] }
        object["threads"] = line.threads.sorted().map { recording.describeThread($0) }
        if line.observer >= 0 { object["observer"] = recording.observers[Int(line.observer)].number }
        if let target = target(line) { object["target"] = recording.describeThread(target) }
        if let location = audit.index.registration(of: line.observer).flatMap({ recording.place(of: $0) }) {
            object["location"] = location.description
        }
        if !line.policies.isEmpty { object["policies"] = line.policies.sorted() }
        return object
    }

    private func object(_ fault: AuditFault) -> [String: Any] {
        var object: [String: Any] = ["kind": fault.kind.rawValue, "text": fault.text]
        if fault.post >= 0 { object["post"] = recording.posts[Int(fault.post)].number }
        if fault.entry >= 0 { object["line"] = Int(audit.index.entry(fault.entry).line) }
        return object
    }
}
