internal import ThreadedNotifications

/// The numbers by which a trace tells processes and threads apart, and the names of tracks.
///
/// They are the kernel's where these are known and distinct. Viewers keep a thread's name by its number only, so no two threads
/// of a recording have the same, also not in two processes.
struct TraceIdentifiers {
    /// By process.
    let processes: [Int]
    /// By thread.
    let threads: [Int]
    /// By thread; distinct in a process.
    let names: [String]

    init(_ recording: Recording) {
        processes = Self.distinct(recording.processes.map { Int($0.id) }, otherwise: Array(recording.processes.indices))
        threads = Self.distinct(
            recording.threads.map { Int($0.identity.kernelID) }, otherwise: recording.threads.map(\.identity.number))
        var taken: [Named: Int] = [:]
        names = zip(recording.threads, threads).map { thread, id in
            let name = thread.identity.name ?? "thread \(thread.identity.number)"
            let known = taken.updateValue(id, forKey: Named(process: thread.process, name: name))
            return known == nil ? name : "\(name) (\(id))"
        }
    }

    private struct Named: Hashable {
        var process: Int32
        var name: String
    }

    /// Each wanted number for the first that wants it; for the others the second choice, or the next number that is free.
    private static func distinct(_ wanted: [Int], otherwise: [Int]) -> [Int] {
        var taken: Set<Int> = [0]
        func take(_ number: Int) -> Int? {
            number > 0 && number <= Int32.max && taken.insert(number).inserted ? number : nil
        }
        let first = wanted.map { take($0) }
        var next = 1
        return zip(first, otherwise).map { number, other in
            if let number = number ?? take(other) { return number }
            while !taken.insert(next).inserted { next += 1 }
            return next
        }
    }
}
