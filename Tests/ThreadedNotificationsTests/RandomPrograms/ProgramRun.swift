import CoreFoundation
import Foundation
import SharedTesting
import ThreadedNotifications

/// A run of a random program on real threads and run loops, through the public interface only.
final class ProgramRun: Sendable {
    struct Outcome: Sendable {
        var events: [ProgramEvent] = []
        /// The counters of each observer when nothing waited any more.
        var counters: [DeliveryCounters] = []
        /// Faults that the run itself found.
        var faults: [String] = []
    }

    private struct State {
        var events: [ProgramEvent] = []
        var faults: [String] = []
        var tokens: [ObserverToken] = []
        /// The number of the observer that was made of each plan, while it is added.
        var active: [Int: Int] = [:]
        var calls: [Int: Int] = [:]
        var posts = 0
        var blocks = 0
        var waitingBlocks = 0
        var handlers = 0
        var actions = 0
        var depths: [Int]
    }

    private let program: RandomProgram
    private let center = ThreadedNotificationCenter()
    private let workers: [RunLoopThread]
    private let targets: [TargetThread]
    private let indexes: [Int: Int]
    // `Locked`, because the thread sanitizer does not see how Swift's `Mutex` excludes other threads.
    private let state: Locked<State>
    /// Held while an observer is added, so that the numbers of observers are in the order added.
    private let adding = Locked(())

    /// - Parameter workers: the threads beside the calling one, which must be the main thread.
    init(_ program: RandomProgram, workers: [RunLoopThread]) {
        self.program = program
        self.workers = workers
        targets = [MainThread.main.targetThread] + workers.map(\.targetThread)
        indexes = Dictionary(
            uniqueKeysWithValues: workers.enumerated().map { ($1.identity?.number ?? 0, $0 + 1) } + [(1, 0)])
        state = Locked(State(depths: Array(repeating: 0, count: program.threads)))
    }

    /// Runs the program until nothing waits, and once more each name is posted.
    func run() -> Outcome {
        for target in targets { target.drainBudget = program.budget }
        defer { MainThread.main.drainBudget = .unbounded }
        for plan in 0..<program.first { add(plan) }
        for thread in 1..<max(program.threads, 1) {
            perform(.perform(.later, on: thread, program.start[thread]), on: 0)
        }
        perform(program.start[0], on: 0)
        runUntilNothingWaits()
        if program.shape == .exit {
            runUntilWorkersEnd()
            return outcome()
        }
        let names = Set(program.observers.map(\.name)).sorted()
        state.withLock { $0.actions = Int.min }
        for name in names { post(name, on: 0) }
        runUntilNothingWaits()
        return outcome()
    }

    private func outcome() -> Outcome {
        // The handlers retain this run.
        let (outcome, tokens) = state.withLock { state in
            let outcome = Outcome(
                events: state.events, counters: state.tokens.map(\.counters), faults: state.faults)
            let tokens = state.tokens
            state.tokens = []
            return (outcome, tokens)
        }
        for token in tokens { token.cancel() }
        return outcome
    }

    private func runUntilNothingWaits() {
        for _ in 0..<1000 {
            runOnce(on: 0)
            for target in targets.dropFirst().prefix(program.threads - 1) {
                // It fails while that thread waits for this one.
                do { try target.performAndWait(timeout: TestTimeout.hang) {} } catch {
                    if (error as? DeliveryError)?.code != .waitWouldDeadlock {
                        return program.shape == .exit ? () : fault("the end of the program: \(error)")
                    }
                }
            }
            let (tokens, isBusy) = state.withLock { ($0.tokens, $0.handlers + $0.waitingBlocks > 0) }
            if !isBusy, tokens.allSatisfy({ $0.counters.waiting == 0 }) { return }
        }
        let waiting = state.withLock { state in state.tokens.map { "\($0)" } + ["\(state.waitingBlocks) blocks"] }
        fault("something waits for ever: \(waiting)")
    }

    private func runUntilWorkersEnd() {
        for worker in workers {
            while true {
                runOnce(on: 0)
                worker.stop()
                do {
                    // It fails while the worker waits for this thread.
                    try worker.waitUntilFinished(timeout: TestTimeout.hang)
                    break
                } catch {
                    guard Self.isRefused(error) else { return fault("the end of a thread: \(error)") }
                }
            }
        }
        // Each block or handler may make one more.
        for _ in 0...program.actions { runOnce(on: 0) }
    }

    // MARK: Actions

    private func perform(_ actions: [RandomProgram.Action], on thread: Int) {
        let isTooDeep = state.withLock { state in
            state.depths[thread] += 1
            return state.depths[thread] > program.depth
        }
        if !isTooDeep { for action in actions { perform(action, on: thread) } }
        state.withLock { $0.depths[thread] -= 1 }
    }

    private func perform(_ action: RandomProgram.Action, on thread: Int) {
        let mayAct = state.withLock { state in
            state.actions += 1
            return state.actions <= program.actions && state.actions > 0
        }
        guard mayAct else { return }
        switch action {
        case .post(let name): post(name, on: thread)
        case .postAndWait(let name): postAndWait(name, on: thread)
        case .run: runOnce(on: thread)
        case .perform(let order, let target, let actions): perform(order, on: target, from: thread, actions)
        case .add(let plan): add(plan)
        case .remove(let plan): remove(plan, on: thread)
        case .exit:
            guard thread != 0 else { return }
            append(.exiting(thread: thread))
            Thread.exit()
        }
    }

    private func post(_ name: Int, on thread: Int) {
        let post = nextPost { .posting($0, name: name, thread: thread, waits: false) }
        let counters = center.post(name: Self.name(name), object: post)
        append(.posted(post, total: counters.total))
    }

    private func postAndWait(_ name: Int, on thread: Int) {
        let post = nextPost { .posting($0, name: name, thread: thread, waits: true) }
        do {
            let counters = try center.postAndWait(
                Notification(name: Self.name(name), object: post), timeout: TestTimeout.hang)
            append(.posted(post, total: counters.total))
        } catch {
            append(.posted(post, total: nil))
            if !Self.isRefused(error) { fault("post \(post): \(error)") }
        }
    }

    private func runOnce(on thread: Int) {
        append(.runBegan(thread: thread))
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
        append(.runEnded(thread: thread))
    }

    private func perform(
        _ order: RandomProgram.Action.Order, on target: Int, from thread: Int, _ actions: [RandomProgram.Action]
    ) {
        let block = state.withLock { state in
            state.events.append(.performing(state.blocks, from: thread, on: target, order))
            state.blocks += 1
            state.waitingBlocks += 1
            return state.blocks - 1
        }
        let body: @Sendable () -> Void = { [self] in
            append(.blockBegan(block, thread: current()))
            perform(actions, on: target)
            state.withLock { state in
                state.events.append(.blockEnded(block, thread: target))
                state.waitingBlocks -= 1
            }
        }
        do {
            switch order {
            case .now: try targets[target].perform(body)
            case .later: try targets[target].performLater(body)
            case .andWait: try targets[target].performAndWait(timeout: TestTimeout.hang, body)
            }
            append(.performed(block, isAccepted: true))
        } catch {
            state.withLock { state in
                state.events.append(.performed(block, isAccepted: false))
                state.waitingBlocks -= 1
            }
            if !Self.isRefused(error) { fault("block \(block): \(error)") }
        }
    }

    private func add(_ plan: Int) {
        adding.withLock { _ in
            let thread = current()
            let observer: Int? = state.withLock { state in
                guard state.active[plan] == nil else { return nil }
                state.active[plan] = state.tokens.count
                state.events.append(.adding(state.tokens.count, plan: plan, thread: thread))
                return state.tokens.count
            }
            guard let observer else { return }
            let token = addObserver(observer, program.observers[plan])
            state.withLock { state in
                state.tokens.append(token)
                state.events.append(.added(observer))
            }
        }
    }

    private func addObserver(_ observer: Int, _ plan: RandomProgram.Observer) -> ObserverToken {
        let target = plan.thread.map { targets[$0] } ?? .postingThread
        let options = ObserverOptions(sameThread: plan.policy)
        guard let transform = plan.transform else {
            return center.addObserver(forName: Self.name(plan.name), on: target, options: options) { notification in
                self.handle(notification.object as? Int ?? -1, observer, plan)
            }
        }
        return center.addObserver(
            forName: Self.name(plan.name), on: target, options: options,
            transform: { notification in
                self.transform(notification.object as? Int ?? -1, observer, transform)
            },
            using: { post in self.handle(post, observer, plan) })
    }

    private func remove(_ plan: Int, on thread: Int) {
        let token: (Int, ObserverToken)? = state.withLock { state in
            // An observer that another thread is just adding has no token yet.
            guard let observer = state.active[plan], observer < state.tokens.count else { return nil }
            state.active[plan] = nil
            state.events.append(.removing(observer, thread: thread))
            return (observer, state.tokens[observer])
        }
        guard let (observer, token) = token else { return }
        token.cancel()
        append(.removed(observer, thread: thread))
    }

    // MARK: Handlers

    private func handle(_ post: Int, _ observer: Int, _ plan: RandomProgram.Observer) {
        let thread = current()
        let call = state.withLock { state in
            state.events.append(.began(post, observer, thread: thread))
            state.handlers += 1
            state.calls[observer, default: -1] += 1
            return state.calls[observer] ?? 0
        }
        perform(plan.calls[call % plan.calls.count], on: thread)
        state.withLock { state in
            state.events.append(.ended(post, observer, thread: thread))
            state.handlers -= 1
        }
    }

    private func transform(_ post: Int, _ observer: Int, _ transform: RandomProgram.Transform) -> Int? {
        let thread = current()
        append(.transforming(post, observer, thread: thread))
        var value: Int? = post
        switch transform {
        case .value: break
        case .sometimesNil: if post.isMultiple(of: 3) { value = nil }
        case .posts(let name): perform([.post(name)], on: thread)
        }
        append(.transformed(post, observer, hasValue: value != nil))
        return value
    }

    // MARK: Journal

    /// The index of the calling thread.
    private func current() -> Int { indexes[ThreadIdentity.current.number] ?? -1 }

    private func nextPost(_ event: (Int) -> ProgramEvent) -> Int {
        state.withLock { state in
            state.events.append(event(state.posts))
            state.posts += 1
            return state.posts - 1
        }
    }

    private func append(_ event: ProgramEvent) { state.withLock { $0.events.append(event) } }

    private func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

    private static func name(_ name: Int) -> Notification.Name { Notification.Name("random \(name)") }

    private static func isRefused(_ error: any Error) -> Bool {
        let codes: [DeliveryError.Code] = [.waitWouldDeadlock, .threadStopped, .threadEnded]
        return (error as? DeliveryError).map { codes.contains($0.code) } ?? false
    }
}
