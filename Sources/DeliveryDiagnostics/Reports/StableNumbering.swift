package import DeliveryRecording
internal import ThreadedNotifications

/// Makes the records of a run comparable: processes, threads, posts, observers and times are numbered in order of
/// appearance. Differences that are due to chance, such as how threads interleave, remain.
///
/// Processes become 1, 2, …; so do kernel ids of threads, across all processes. In each process, threads, posts,
/// observers and senders are numbered anew, and the main thread stays 1. The n-th record happens n milliseconds after
/// 2001-01-01 UTC. Threads in messages are renumbered too, and addresses in messages become `0x…`.
package struct StableNumbering {
    private var processes = Numbering<Int32>()
    private var kernelIDs = Numbering<KernelID>()
    private var numbers: [Int32: Numbering<Int>] = [:]
    private var posts: [Int32: Numbering<Int>] = [:]
    private var observers: [Int32: Numbering<Int>] = [:]
    private var senders: [Int32: Numbering<UInt64>] = [:]
    private var records = 0

    private struct KernelID: Hashable {
        var process: Int32
        var thread: Int32
    }

    /// In nanoseconds since 1970.
    private static let start: Int64 = 978_307_200_000_000_000

    package init() {}

    /// Renumbers the records in their order.
    package static func renumber(_ records: [DeliveryRecord]) -> [DeliveryRecord] {
        var numbering = StableNumbering()
        return records.map { numbering.renumber($0) }
    }

    mutating func renumber(_ record: DeliveryRecord) -> DeliveryRecord {
        var stable = record
        records += 1
        stable.monotonicNanoseconds = UInt64(records) * 1_000_000
        stable.wallNanoseconds = Self.start + Int64(records) * 1_000_000
        stable.process = ProcessIdentity(id: Int32(processes[record.process.id]), name: record.process.name)
        stable.thread = renumber(record.thread, in: record.process.id)
        stable.post = record.post.map { posts[record.process.id, default: Numbering()][$0] }
        stable.observer = record.observer.map { observers[record.process.id, default: Numbering()][$0] }
        stable.relatedPost = record.relatedPost.map { posts[record.process.id, default: Numbering()][$0] }
        stable.sender = record.sender.map { sender in
            DeliveryRecord.Sender(
                identifier: UInt64(senders[record.process.id, default: Numbering()][sender.identifier]),
                type: sender.type)
        }
        stable.target = record.target.map { renumber($0, in: record.process.id) }
        stable.message = record.message.map { renumber($0, in: record.process.id) }
        return stable
    }

    private mutating func renumber(_ thread: ThreadIdentity, in process: Int32) -> ThreadIdentity {
        ThreadIdentity(
            number: number(thread.number, in: process), name: thread.name,
            kernelID: Int32(kernelIDs[KernelID(process: process, thread: thread.kernelID)]))
    }

    private mutating func renumber(_ message: String, in process: Int32) -> String {
        var stable = ""
        for part in MessagePart.parts(of: message) {
            switch part {
            case .text(let text):
                stable += withoutAddresses(text)
            case .thread(let thread):
                stable += "{number = \(number(thread.number, in: process)), name = \(thread.name ?? "(null)")}"
            }
        }
        return stable
    }

    private func withoutAddresses(_ text: String) -> String {
        var pieces = text.split(separator: "0x", omittingEmptySubsequences: false)
        for index in pieces.indices.dropFirst() {
            pieces[index] = "…" + pieces[index].drop(while: \.isHexDigit)
        }
        return pieces.joined(separator: "0x")
    }

    private mutating func number(_ number: Int, in process: Int32) -> Int {
        number == 1 ? 1 : 1 + numbers[process, default: Numbering()][number]
    }
}

/// Numbers values from 1 in order of first appearance.
private struct Numbering<Name: Hashable> {
    private var known: [Name: Int] = [:]

    subscript(name: Name) -> Int {
        mutating get {
            if let number = known[name] { return number }
            known[name] = known.count + 1
            return known.count
        }
    }
}
