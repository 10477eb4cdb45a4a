internal import DeliveryRecording
internal import ThreadedNotifications

/// Formats an audit as text and as JSON.
package struct AuditReport {
    private let audit: Audit
    private let lines: [Audit.Line]
    /// The first registration of each observer.
    private let registrations: [Int32: Recording.Entry]

    package init(_ audit: Audit) {
        self.audit = audit
        registrations = Dictionary(
            audit.recording.entries.lazy.filter { $0.stage == .register && $0.observer >= 0 }.map { ($0.observer, $0) },
            uniquingKeysWith: { first, _ in first })
        // An observer of any name has a line for each name that it received. Its registration then needs no line of its
        // own.
        let named = Set(audit.lines.filter { $0.name >= 0 }.map(\.observer))
        lines = audit.lines.filter { $0.name >= 0 || $0.observer < 0 || !named.contains($0.observer) }
    }

    private var recording: Recording { audit.recording }

    // MARK: For people

    /// Lines of at most `width` characters, unless a single word is longer.
    package func text(width: Int = .max) -> [String] {
        var text: [String] = []
        var nextSection: [String] { text.isEmpty ? [] : [""] }
        if !lines.isEmpty {
            text += table(lines.map { ($0.counts, label($0)) }, of: "name and observer", width: width)
        }
        if !audit.queues.isEmpty {
            text += nextSection + queueTable(width: width)
        }
        if !audit.blocks.isEmpty {
            text += nextSection
            text += table(
                audit.blocks.map { ($0.counts, "blocks" + ofProcess($0.process)) }, of: "performed", width: width)
        }
        text += nextSection + verdict(width: width)
        return text
    }

    private func table(_ rows: [(counts: AuditCounters, label: String)], of what: String, width: Int) -> [String] {
        let columns: [(heading: String, count: KeyPath<AuditCounters, Int>, isAlwaysShown: Bool)] = [
            ("posted", \.posted, true), ("delivered", \.delivered, true), ("coalesced", \.coalesced, false),
            ("dropped", \.dropped, false), ("cancelled", \.cancelled, false), ("target gone", \.targetGone, false),
            ("pending", \.pending, false), ("lost", \.lost, false), ("skipped", \.skipped, false),
            ("earlier", \.earlier, false),
        ].filter { column in column.2 || rows.contains { $0.counts[keyPath: column.1] != 0 } }
        var all = rows
        if rows.count > 1 {
            var sum = AuditCounters()
            for row in rows { sum += row.counts }
            all.append((sum, "total"))
        }
        return numbers(
            columns.map(\.heading), of: what,
            all.map { row in columns.map { row.counts[keyPath: $0.count] } }, all.map(\.label), width)
    }

    private func queueTable(width: Int) -> [String] {
        let columns: [(heading: String, count: KeyPath<Audit.QueueLine, Int>, isAlwaysShown: Bool)] = [
            ("enqueued", \.enqueued, true), ("posted", \.posted, true), ("coalesced", \.coalesced, false),
            ("dequeued", \.dequeued, false), ("target gone", \.targetGone, false), ("waiting", \.waiting, false),
        ].filter { column in column.2 || audit.queues.contains { $0[keyPath: column.1] != 0 } }
        return numbers(
            columns.map(\.heading), of: "in posting queues",
            audit.queues.map { line in columns.map { line[keyPath: $0.count] } },
            audit.queues.map { words($0.name) + ofProcess($0.process) }, width)
    }

    /// Numbers come first, so that long labels do not break their columns.
    private func numbers(
        _ headings: [String], of what: String, _ numbers: [[Int]], _ labels: [String], _ width: Int
    ) -> [String] {
        let columns = headings.map { Table.Column.number($0.replacing(" ", with: "\n")) } + [.wrapped(what)]
        let rows = zip(numbers, labels).map { $0.map(Quantity.exact) + [$1] }
        return Table(columns, rows: rows).lines(width: width)
    }

    private func words(_ name: Int32) -> String {
        name < 0 ? "any name" : Excerpt.of(recording.strings[Int(name)])
    }

    private func ofProcess(_ process: Int32) -> String {
        recording.processes.count > 1 ? " of process \(recording.processes[Int(process)].id)" : ""
    }

    private func registration(_ line: Audit.Line) -> Recording.Entry? {
        guard line.observer >= 0 else { return nil }
        return registrations[line.observer]
    }

    private func label(_ line: Audit.Line) -> String {
        var label = words(line.name)
        if line.observer >= 0 {
            label += "  \(recording.describeObserver(line.observer))"
        } else {
            label += ofProcess(line.process)
            if line.observer == LineTable.unknownObserver { label += "  unknown observer" }
        }
        if let registration = registration(line) {
            if registration.target >= 0 { label += " on \(recording.describeThread(registration.target))" }
            if let location = recording.place(of: registration) { label += ", \(Excerpt.of(location.description))" }
        }
        if !line.policies.isEmpty {
            label += ", dropped by " + policies(line).joined(separator: " and ")
        }
        return label
    }

    private func policies(_ line: Audit.Line) -> [String] {
        line.policies.map { Excerpt.of($0) }.sorted()
    }

    private func verdict(width: Int) -> [String] {
        var text: [String] = []
        if audit.faults.count == 0 {
            text.append(
                lines.isEmpty && audit.blocks.isEmpty && audit.queues.isEmpty ? "nothing was posted" : "no faults")
        } else {
            text.append(counted(audit.faults.count, "fault") + ":")
            text += descriptions(of: audit.faults, width: width)
        }
        if audit.unknown.count > 0 || audit.isComplete.contains(false) {
            let faults = audit.unknown.count > 0 ? ": \(counted(audit.unknown.count, "possible fault")):" : ""
            text.append("the recording is truncated\(faults)")
            text += descriptions(of: audit.unknown, width: width)
        }
        return text
    }

    private func descriptions(of faults: AuditFaults, width: Int) -> [String] {
        let shown = faults.reported.prefix(20)
        var text = shown.flatMap {
            WrappedText.lines("\(recording.source):\(line(of: $0)): \($0.text)", width: width, indent: "  ", hanging: 2)
        }
        if faults.count > shown.count { text.append("  and \(faults.count - shown.count) more") }
        return text
    }

    private func line(of fault: AuditFault) -> Int32 {
        fault.entryIndex < 0 ? 0 : recording.entries[Int(fault.entryIndex)].line
    }

    // MARK: For machines

    /// One JSON document with sorted keys.
    package func json() throws -> String {
        return try JSONText.of(Document(self))
    }

    private struct Document: Encodable {
        struct Line: Encodable {
            var process: Int32
            var notification: String?
            var observer: Int?
            var target: String?
            var place: String?
            var posted: Int
            var delivered: Int
            var coalesced: Int
            var dropped: Int
            var cancelled: Int
            var targetGone: Int
            var pending: Int
            var lost: Int
            var notForIt: Int
            var fromBefore: Int
            var policies: [String]?
        }

        struct Queue: Encodable {
            var process: Int32
            var notification: String?
            var enqueued: Int
            var posted: Int
            var coalesced: Int
            var dequeued: Int
            var targetGone: Int
            var waiting: Int
        }

        struct Fault: Encodable {
            var kind: String
            var post: Int?
            var line: Int32?
            var text: String
        }

        var file: String
        var addsUp: Bool
        var isCut: Bool
        var notifications: [Line]
        var queues: [Queue]
        var blocks: [Line]
        var faults: [Fault]
        var faultCount: Int
        var notKnown: [Fault]
        var notKnownCount: Int

        init(_ report: AuditReport) {
            let (audit, recording) = (report.audit, report.recording)
            file = recording.source
            addsUp = audit.addsUp
            isCut = audit.isComplete.contains(false)
            let registrations = report.registrations
            func line(_ line: Audit.Line) -> Line {
                let registration = line.observer >= 0 ? registrations[line.observer] : nil
                let counts = line.counts
                return Line(
                    process: recording.processes[Int(line.process)].id,
                    notification: line.name < 0 ? nil : recording.strings[Int(line.name)],
                    observer: line.observer < 0 ? nil : recording.observers[Int(line.observer)].number,
                    target: registration.flatMap {
                        $0.target < 0 ? nil : recording.describeThread($0.target)
                    }, place: registration.flatMap { recording.place(of: $0)?.description },
                    posted: counts.posted, delivered: counts.delivered, coalesced: counts.coalesced,
                    dropped: counts.dropped, cancelled: counts.cancelled, targetGone: counts.targetGone,
                    pending: counts.pending, lost: counts.lost, notForIt: counts.skipped,
                    fromBefore: counts.earlier, policies: line.policies.isEmpty ? nil : report.policies(line))
            }
            func fault(_ fault: AuditFault) -> Fault {
                Fault(
                    kind: fault.kind.rawValue,
                    post: fault.post < 0 ? nil : recording.posts[Int(fault.post)].number,
                    line: fault.entryIndex < 0 ? nil : recording.entries[Int(fault.entryIndex)].line, text: fault.text)
            }
            notifications = report.lines.map(line)
            blocks = audit.blocks.map(line)
            queues = audit.queues.map { queue in
                Queue(
                    process: recording.processes[Int(queue.process)].id,
                    notification: queue.name < 0 ? nil : recording.strings[Int(queue.name)],
                    enqueued: queue.enqueued, posted: queue.posted, coalesced: queue.coalesced,
                    dequeued: queue.dequeued, targetGone: queue.targetGone, waiting: queue.waiting)
            }
            faults = audit.faults.reported.map(fault)
            faultCount = audit.faults.count
            notKnown = audit.unknown.reported.map(fault)
            notKnownCount = audit.unknown.count
        }
    }
}
