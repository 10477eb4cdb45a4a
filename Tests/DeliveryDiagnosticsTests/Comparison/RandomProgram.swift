import DeliveryRecording
import SharedTesting
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// A random program. Every run does the same, except that threads interleave by chance.
struct RandomProgram {
    indirect enum Action {
        case log(String)
        /// A notification and its observers.
        case post(String, [Receiver])
        /// The target thread, as an index in `threads`.
        case block(Int, [Action])
    }

    struct Receiver {
        var observer: Int
        /// An index in `threads`; nil for delivery on the posting thread.
        var target: Int?
        var handler: [Action]
    }

    /// The names of the threads; nil for a thread without a name.
    var threads: [String?]
    /// The actions of each thread outside of handlers.
    var programs: [[Action]]
    var observers: Int

    /// - Parameter areAllNamed: if false, about half of the threads have no name, and some of these do the same.
    init(seed: UInt64, areAllNamed: Bool) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...6, using: &generator)
        threads = (0..<count).map { index in
            index == 0 ? "main" : areAllNamed || Bool.random(using: &generator) ? "thread \(index)" : nil
        }
        observers = Int.random(in: 1...4, using: &generator)
        programs = []
        for index in 0..<count {
            let isCopy = index > 1 && !areAllNamed && Bool.random(using: &generator)
            programs.append(isCopy ? programs[index - 1] : [])
            guard !isCopy else { continue }
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                programs[index].append(action(depth: 0, using: &generator))
            }
        }
    }

    private func action(depth: Int, using generator: inout SeededGenerator) -> Action {
        func handler(_ generator: inout SeededGenerator) -> [Action] {
            guard depth < 3 else { return [] }
            return (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                action(depth: depth + 1, using: &generator)
            }
        }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            let thread = Int.random(in: 1..<4, using: &generator)
            return .log(["said \(thread)", "{number = 1, name = main}"].randomElement(using: &generator) ?? "")
        case 1:
            return .block(Int.random(in: 0..<threads.count, using: &generator), handler(&generator))
        default:
            let chosen = (0..<observers).filter { _ in Bool.random(using: &generator) }
            let receivers = chosen.map { observer in
                let target = (observer * 7 + 1) % (threads.count + 1)
                return Receiver(
                    observer: observer, target: target == threads.count ? nil : target, handler: handler(&generator))
            }
            return .post("name \(Int.random(in: 0..<2, using: &generator))", receivers)
        }
    }
}
