package import DeliveryRecording
internal import ThreadedNotifications

/// Makes the records of a run comparable: processes, threads, posts, observers and times are numbered in order of
/// appearance. Differences that are due to chance, such as how threads interleave, remain.
///
/// Processes become 1, 2, …; so do kernel ids of threads, across all processes. In each process, threads, posts,
/// observers and senders are numbered anew, and the main thread stays 1. The n-th record happens n milliseconds after
/// 2001-01-01 UTC. Threads in messages are renumbered too, and addresses in messages become `0x…`.
package struct StableNumbering {
    /// For each group of numbers, the new numbers by the old ones. A kernel id is preceded by its process.
    private var numbers: [String: [[Int64]: Int]] = [:]
    private var records: Int64 = 0

    /// In nanoseconds since 1970.
    private static let start: Int64 = 978_307_200_000_000_000

    package static func renumber(_ records: [DeliveryRecord]) -> [DeliveryRecord] {
        var numbering = StableNumbering()
        return records.map { numbering.renumber($0) }
    }

    private mutating func renumber(_ record: DeliveryRecord) -> DeliveryRecord {
        var stable = record
        let process = record.process.id
        records += 1
        stable.monotonicNanoseconds = UInt64(records) * 1_000_000
        stable.wallNanoseconds = Self.start + records * 1_000_000
        stable.process = ProcessIdentity(
            id: Int32(number([Int64(process)], in: "processes")), name: record.process.name)
        stable.thread = renumber(record.thread, in: process)
        stable.post = record.post.map { number([Int64($0)], in: "posts of \(process)") }
        stable.observer = record.observer.map { number([Int64($0)], in: "observers of \(process)") }
        stable.relatedPost = record.relatedPost.map { number([Int64($0)], in: "posts of \(process)") }
        stable.sender = record.sender.map { sender in
            let old = Int64(bitPattern: sender.identifier)
            return DeliveryRecord.Sender(
                identifier: UInt64(number([old], in: "senders of \(process)")), type: sender.type)
        }
        stable.target = record.target.map { renumber($0, in: process) }
        stable.message = record.message.map { message in
            MessagePart.parts(of: message).map { part in
                switch part {
                case .text(let text): Self.withoutAddresses(text)
                case .thread(let thread):
                    "{number = \(number(ofThread: thread.number, in: process)), name = \(thread.name ?? "(null)")}"
                }
            }.joined()
        }
        return stable
    }

    private mutating func renumber(_ thread: ThreadIdentity, in process: Int32) -> ThreadIdentity {
        ThreadIdentity(
            number: number(ofThread: thread.number, in: process), name: thread.name,
            kernelID: Int32(number([Int64(process), Int64(thread.kernelID)], in: "kernel ids")))
    }

    private mutating func number(ofThread thread: Int, in process: Int32) -> Int {
        thread == 1 ? 1 : 1 + number([Int64(thread)], in: "threads of \(process)")
    }

    private mutating func number(_ old: [Int64], in scope: String) -> Int {
        let next = (numbers[scope]?.count ?? 0) + 1
        if let known = numbers[scope]?[old] { return known }
        numbers[scope, default: [:]][old] = next
        return next
    }

    private static func withoutAddresses(_ text: String) -> String {
        let pieces = text.split(separator: "0x", omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(String(pieces[0])) { $0 + "0x…" + $1.drop(while: \.isHexDigit) }
    }
}
