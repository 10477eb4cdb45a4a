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
        /// A block that is performed on a thread.
        case block(Int, [Action])
    }

    struct Receiver {
        var observer: Int
        /// Nil for delivery on the posting thread.
        var target: Int?
        var handler: [Action]
    }

    /// The names of the threads; nil for a thread without a name.
    private var threads: [String?]
    /// The actions of each thread outside of handlers.
    private var programs: [[Action]] = []
    private var observers: Int
    private var generator: SeededGenerator

    /// - Parameter areAllNamed: if false, about half of the threads have no name, and some of these do the same.
    init(seed: UInt64, areAllNamed: Bool) {
        var generator = SeededGenerator(seed: seed)
        threads = (0..<Int.random(in: 2...6, using: &generator)).map { index in
            index == 0 ? "main" : areAllNamed || Bool.random(using: &generator) ? "thread \(index)" : nil
        }
        observers = Int.random(in: 1...4, using: &generator)
        self.generator = generator
        for index in threads.indices {
            let isCopy = index > 1 && !areAllNamed && Bool.random(using: &self.generator)
            programs.append(isCopy ? programs[index - 1] : actions(0...4, depth: 0))
        }
    }

    private mutating func actions(_ counts: ClosedRange<Int>, depth: Int) -> [Action] {
        depth > 3 ? [] : (0..<Int.random(in: counts, using: &generator)).map { _ in action(depth: depth) }
    }

    private mutating func action(depth: Int) -> Action {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return .log(["said 1", "said 2", "{number = 1, name = main}"].randomElement(using: &generator) ?? "")
        case 1: return .block(Int.random(in: threads.indices, using: &generator), actions(0...2, depth: depth + 1))
        default:
            let receivers = (0..<observers).filter { _ in Bool.random(using: &generator) }.map { observer in
                let target = (observer * 7 + 1) % (threads.count + 1)
                return Receiver(
                    observer: observer, target: target == threads.count ? nil : target,
                    handler: actions(0...2, depth: depth + 1))
            }
            return .post("name \(Int.random(in: 0..<2, using: &generator))", receivers)
        }
    }

    /// The records of a run with its own numbers and interleaving.
    func records(seed: UInt64) -> [TestRecord] {
        var generator = SeededGenerator(seed: seed)
        let numbers = (2..<threads.count + 2).shuffled(using: &generator)
        let identities = threads.enumerated().map { index, name in
            let number = index == 0 ? 1 : numbers[index]
            return ThreadIdentity(number: number, name: name, kernelID: Int32(100 + 7 * numbers[index]))
        }
        var run = Run(
            threads: identities, posts: Int(seed % 3), firstObserver: 1 + Int(seed % 5), generator: generator)
        for observer in 0..<observers {
            run.story.add(.register, on: identities[0], nil, observer: run.number(observer))
        }
        for (thread, actions) in programs.enumerated() { run.prepare(actions, on: thread) }
        while run.step() {}
        return run.story.records
    }

    private struct Run {
        typealias Step = (inout Run) -> Void

        var story = RecordedStory()
        let threads: [ThreadIdentity]
        var posts: Int
        let firstObserver: Int
        var generator: SeededGenerator
        /// What each thread still does, the next step last, and what waits for it until it is in no handler.
        lazy var steps: [[Step]] = threads.map { _ in [] }
        lazy var mailboxes: [[Step]] = threads.map { _ in [] }
        lazy var depths = threads.map { _ in 0 }

        func number(_ observer: Int) -> Int { firstObserver + observer }

        mutating func step() -> Bool {
            let ready = threads.indices.filter { !steps[$0].isEmpty || !mailboxes[$0].isEmpty }
            guard let thread = ready.randomElement(using: &generator) else { return false }
            // A thread may handle it at any later time.
            if !mailboxes[thread].isEmpty, depths[thread] == 0,
                steps[thread].isEmpty || Int.random(in: 0..<4, using: &generator) == 0
            {
                if Bool.random(using: &generator) { story.add(.drain, on: threads[thread]) }
                steps[thread].append(mailboxes[thread].removeFirst())
            }
            steps[thread].popLast()?(&self)
            return true
        }

        mutating func prepare(_ actions: [Action], on thread: Int) {
            steps[thread] += actions.reversed().map { action in { $0.perform(action, on: thread) } }
        }

        private mutating func perform(_ action: Action, on thread: Int) {
            switch action {
            case .log(let message): story.add(.log, on: threads[thread], message: message)
            case .block(let target, let actions):
                posts += 1
                story.add(.append, on: threads[thread], nil, post: posts, target: threads[target])
                if Bool.random(using: &generator) { story.add(.signal, on: threads[thread], target: threads[target]) }
                mailboxes[target].append { [posts] in $0.handle(actions, nil, posts, nil, on: target) }
            case .post(let name, let receivers):
                posts += 1
                story.add(.post, on: threads[thread], name, post: posts, count: receivers.count)
                steps[thread] += receivers.reversed().map { receiver in
                    { [posts] in $0.deliver(receiver, name, posts, from: thread) }
                }
            }
        }

        private mutating func deliver(_ receiver: Receiver, _ name: String, _ post: Int, from thread: Int) {
            let observer = number(receiver.observer)
            guard let target = receiver.target else {
                return handle(receiver.handler, name, post, observer, on: thread)
            }
            story.add(.append, on: threads[thread], name, post: post, observer: observer, target: threads[target])
            mailboxes[target].append { $0.handle(receiver.handler, name, post, observer, on: target) }
        }

        private mutating func handle(
            _ actions: [Action], _ name: String?, _ post: Int, _ observer: Int?, on thread: Int
        ) {
            story.add(.deliver, on: threads[thread], name, post: post, observer: observer)
            depths[thread] += 1
            steps[thread].append { run in
                run.story.add(.return, on: run.threads[thread], name, post: post, observer: observer)
                run.depths[thread] -= 1
            }
            prepare(actions, on: thread)
        }
    }
}
