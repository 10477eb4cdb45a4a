internal import DeliveryRecording
internal import ThreadedNotifications

/// The process and thread numbers in a trace, and the names of tracks.
///
/// The kernel's numbers are used if they are known and distinct. Viewers identify a thread's name by its number alone,
/// so thread numbers are unique in the whole recording.
struct TraceIdentifiers {
    let processes: [Int]
    let threads: [Int]
    /// For each thread. Unique within a process.
    let names: [String]

    init(_ recording: Recording) {
        processes = Self.distinct(recording.processes.map { Int($0.id) }, otherwise: Array(recording.processes.indices))
        threads = Self.distinct(
            recording.threads.map { Int($0.identity.kernelID) }, otherwise: recording.threads.map(\.identity.number))
        var taken: Set<[String]> = []
        names = zip(recording.threads, threads).map { thread, id in
            let name = thread.identity.name ?? "thread \(thread.identity.number)"
            return taken.insert(["\(thread.process)", name]).inserted ? name : "\(name) (\(id))"
        }
    }

    /// Gives each wanted number to the first that wants it. The others get their second choice, or the next free
    /// number.
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

extension Recording {
    /// Threads in the order of processes and thread numbers.
    func ordered(_ indices: some Sequence<Int>) -> [Int] {
        indices.sorted { one, other in
            (threads[one].process, threads[one].identity.number)
                < (threads[other].process, threads[other].identity.number)
        }
    }
}
