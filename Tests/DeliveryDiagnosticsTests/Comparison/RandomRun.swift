import DeliveryRecording
import SharedTesting
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// One run of a random program, with its own numbers and interleaving.
struct RandomRun {
    private var story = RecordedStory()
    private var generator: SeededGenerator
    private let program: RandomProgram
    private let identities: [ThreadIdentity]
    private let observerNumbers: [Int]
    private var posts: Int
    private var states: [State]

    /// The remaining actions, the next one last.
    private enum Step {
        case action(RandomProgram.Action)
        case append(RandomProgram.Receiver, String, post: Int)
        case deliver(RandomProgram.Receiver, String, post: Int)
        case performed([RandomProgram.Action], post: Int)
        case returned(TestRecord)
    }

    private struct State {
        var steps: [Step]
        var mailbox: [Step] = []
    }

    init(_ program: RandomProgram, seed: UInt64) {
        self.program = program
        var generator = SeededGenerator(seed: seed)
        let numbers = (2..<program.threads.count + 2).shuffled(using: &generator)
        identities = program.threads.enumerated().map { index, name in
            ThreadIdentity(
                number: index == 0 ? 1 : numbers[index], name: name, kernelID: Int32(100 + 7 * numbers[index]))
        }
        observerNumbers = (1...program.observers).map { $0 + Int(seed % 5) }
        posts = Int(seed % 3)
        states = program.programs.map { State(steps: $0.reversed().map { .action($0) }) }
        self.generator = generator
        for observer in 0..<program.observers {
            record(.register, on: 0, observer: observerNumbers[observer])
        }
        while let thread = states.indices.filter({ !states[$0].steps.isEmpty || !states[$0].mailbox.isEmpty })
            .randomElement(using: &self.generator)
        {
            step(thread)
        }
    }

    var records: [TestRecord] { story.records }

    private mutating func record(
        _ stage: DeliveryStage, on thread: Int, name: String? = nil, post: Int? = nil, observer: Int? = nil,
        target: Int? = nil, message: String? = nil, count: Int? = nil
    ) {
        story.add(
            stage, on: identities[thread], name, post: post, observer: observer, target: target.map { identities[$0] },
            message: message, count: count)
    }

    private mutating func step(_ thread: Int) {
        // A thread may handle it at any later time.
        let isInHandler = states[thread].steps.contains { if case .returned = $0 { true } else { false } }
        let takesMail =
            !isInHandler && (states[thread].steps.isEmpty || Int.random(in: 0..<4, using: &generator) == 0)
        if takesMail, !states[thread].mailbox.isEmpty {
            if Bool.random(using: &generator) { record(.drain, on: thread) }
            states[thread].steps.append(states[thread].mailbox.removeFirst())
        }
        guard let next = states[thread].steps.popLast() else { return }
        switch next {
        case .action(.log(let message)):
            record(.log, on: thread, message: message)
        case .action(.post(let name, let receivers)):
            posts += 1
            record(.post, on: thread, name: name, post: posts, count: receivers.count)
            let post = posts
            states[thread].steps += receivers.reversed().map { .append($0, name, post: post) }
        case .action(.block(let target, let actions)):
            posts += 1
            record(.append, on: thread, post: posts, target: target)
            if Bool.random(using: &generator) { record(.signal, on: thread, target: target) }
            states[target].mailbox.append(.performed(actions, post: posts))
        case .append(let receiver, let name, let post):
            guard let target = receiver.target else {
                states[thread].steps.append(.deliver(receiver, name, post: post))
                return
            }
            record(
                .append, on: thread, name: name, post: post, observer: observerNumbers[receiver.observer],
                target: target)
            states[target].mailbox.append(.deliver(receiver, name, post: post))
        case .deliver(let receiver, let name, let post):
            record(.deliver, on: thread, name: name, post: post, observer: observerNumbers[receiver.observer])
            handle(receiver.handler, on: thread)
        case .performed(let actions, let post):
            record(.deliver, on: thread, post: post)
            handle(actions, on: thread)
        case .returned(let handled):
            record(.return, on: thread, name: handled.name, post: handled.post, observer: handled.observer)
        }
    }

    /// - Parameter actions: the actions of the handler that was called last.
    private mutating func handle(_ actions: [RandomProgram.Action], on thread: Int) {
        states[thread].steps.append(.returned(records[records.count - 1]))
        states[thread].steps += actions.reversed().map { .action($0) }
    }
}
