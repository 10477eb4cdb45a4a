import ThreadedNotifications

/// Checks the guarantees over the events of a random program. The model knows nothing of queues: it records the
/// observers of each post, and the order of the calls.
struct ProgramModel {
    private struct Post {
        let name: Int
        let thread: Int
        let waits: Bool
        /// The observers that certainly match, and those that were added or removed meanwhile on another thread.
        var certain: [Int]
        var possible: [Int]
        /// Its place in the order of its thread.
        var place: Int
        /// Whether nothing waited for its thread when it began.
        var wasQuiet = false
        var hasReturned = false
        var isRefused = false
        var wasCalled = false
        var valueless = 0
        var lastDirect = -1
    }

    private struct Block {
        let from: Int
        let on: Int
        let order: RandomProgram.Action.Order
        let place: Int
        let wasQuiet: Bool
        /// The deliveries that waited when a call of `performAndWait` began.
        let before: [Delivery]
        var hasReturned = false
        var isAccepted = false
        var began = false
        var ended = false
    }

    private enum Delivery: Hashable {
        case pair(post: Int, observer: Int)
        case block(Int)
    }

    private enum Frame: Equatable {
        case post(Int)
        case transform(of: Int)
        case call
        case perform(Int)
        case run
    }

    private struct Call: Hashable {
        let from: Int
        let on: Int
    }

    private struct Observer {
        let plan: RandomProgram.Observer
        let addedOn: Int
        var isAdded = false
        var isRemoving = false
        var removedOn: Int?
        var delivered = 0
    }

    private let program: RandomProgram
    private var posts: [Post] = []
    private var blocks: [Block] = []
    private var observers: [Observer] = []
    private var stages: [Delivery: Stage] = [:]
    /// The deliveries that certainly wait for each thread.
    private var waiting: [[Delivery]]
    private var frames: [[Frame]]
    /// The deliveries that waited when each run of a run loop, or waiting post, on a thread began.
    private var chances: [[[Delivery]]]
    private var hasEnded: [Bool]
    private var last: [Call: [Int]] = [:]
    private var index = 0
    private(set) var faults: [String] = []

    private enum Stage { case valueless, began, ended }

    static func faults(of program: RandomProgram, _ outcome: ProgramRun.Outcome) -> [String] {
        var model = ProgramModel(program)
        for event in outcome.events { model.apply(event) }
        model.finish(outcome.counters)
        return outcome.faults + model.faults
    }

    private init(_ program: RandomProgram) {
        self.program = program
        waiting = Array(repeating: [], count: program.threads)
        frames = Array(repeating: [], count: program.threads)
        chances = frames.map { _ in [] }
        hasEnded = frames.map { _ in false }
    }

    private mutating func check(_ condition: Bool, _ text: @autoclosure () -> String) {
        if !condition { faults.append("event \(index): \(text())") }
    }

    // MARK: Events

    private mutating func apply(_ event: ProgramEvent) {
        index += 1
        switch event {
        case .adding(let observer, let plan, let thread): adding(observer, plan, thread)
        case .added(let observer): observers[observer].isAdded = true
        case .removing(let observer, let thread): removing(observer, thread)
        case .removed(let observer, let thread): observers[observer].removedOn = thread
        case .posting(let post, let name, let thread, let waits): posting(post, name, thread, waits)
        case .posted(let post, let total): posted(post, total)
        case .transforming(let post, _, let thread): frames[thread].append(.transform(of: post))
        case .transformed(let post, let observer, let hasValue): transformed(post, observer, hasValue)
        case .began(let post, let observer, let thread): began(post, observer, thread)
        case .ended(let post, let observer, let thread):
            stages[.pair(post: post, observer: observer)] = .ended
            frames[thread].removeLast()
        case .performing(let block, let from, let on, let order): performing(block, from, on, order)
        case .performed(let block, let isAccepted): performed(block, isAccepted)
        case .blockBegan(let block, let thread): blockBegan(block, thread)
        case .blockEnded(let block, let thread):
            blocks[block].ended = true
            frames[thread].removeLast()
        case .runBegan(let thread):
            frames[thread].append(.run)
            chances[thread].append(program.budget == .unbounded ? placed(on: thread) : [])
        case .runEnded(let thread):
            frames[thread].removeLast()
            hadChance(chances[thread].removeLast(), on: thread, "a run of the run loop")
        case .exiting(let thread):
            hasEnded[thread] = true
            for case .transform(let post) in frames[thread] { withdraw(post) }
            (frames[thread], chances[thread], waiting[thread]) = ([], [], [])
        }
    }

    private mutating func adding(_ observer: Int, _ plan: Int, _ thread: Int) {
        let plan = program.observers[plan]
        observers.append(Observer(plan: plan, addedOn: thread))
        for post in posts.indices where isUnderWay(post, onOtherThanThread: thread) && posts[post].name == plan.name {
            posts[post].possible.append(observer)
        }
    }

    private mutating func removing(_ observer: Int, _ thread: Int) {
        observers[observer].isRemoving = true
        for post in posts.indices where isUnderWay(post, onOtherThanThread: thread) {
            guard let index = posts[post].certain.firstIndex(of: observer) else { continue }
            posts[post].certain.remove(at: index)
            posts[post].possible.append(observer)
        }
    }

    private func isUnderWay(_ post: Int, onOtherThanThread thread: Int) -> Bool {
        !posts[post].hasReturned && posts[post].thread != thread
    }

    private mutating func posting(_ number: Int, _ name: Int, _ thread: Int, _ waits: Bool) {
        let named = observers.indices.filter { observers[$0].plan.name == name && observers[$0].removedOn == nil }
        var post = Post(
            name: name, thread: thread, waits: waits,
            certain: named.filter { observers[$0].isAdded && !observers[$0].isRemoving },
            possible: named.filter { !observers[$0].isAdded || observers[$0].isRemoving }, place: index)
        post.wasQuiet = isQuiet(thread)
        frames[thread].append(.post(number))
        chances[thread].append(placed(on: thread))
        for observer in post.certain where isPlaced(observer, on: thread) {
            waiting[thread].append(.pair(post: number, observer: observer))
        }
        posts.append(post)
    }

    private mutating func posted(_ number: Int, _ total: Int?) {
        posts[number].hasReturned = true
        let post = posts[number]
        let thread = post.thread
        frames[thread].removeLast()
        let before = chances[thread].removeLast()
        guard let total else {
            check(post.waits && program.shape != .oneThread, "post \(number) was refused")
            waiting[thread].removeAll { if case .pair(number, _) = $0 { true } else { false } }
            guard program.shape != .exit else { return withdraw(number) }
            posts[number].isRefused = true
            check(!post.wasCalled, "post \(number) was refused and delivered")
            return
        }
        let counted = total + post.valueless
        check(
            counted >= post.certain.count && counted <= post.certain.count + post.possible.count,
            "post \(number) counts \(total) observers, \(post.valueless) have no value; \(post.certain) match")
        for observer in post.certain {
            let pair = Delivery.pair(post: number, observer: observer)
            let (policy, target) = (observers[observer].plan.policy, observers[observer].plan.thread)
            if let target, target != thread {
                if stages[pair] == nil { waiting[target].append(pair) }
            } else if target == nil || policy == .atOnce {
                check(isSettled(pair), "post \(number) returned before observer \(observer) was called")
            } else if policy == .ordered, post.wasQuiet {
                check(isSettled(pair), "post \(number): nothing waited, and observer \(observer) was not called")
            }
            if post.waits, target != thread || policy != .later, !hasEnded[target ?? thread] {
                check(
                    isSettled(pair) && stages[pair] != .began,
                    "post \(number) waited, and observer \(observer) had not returned")
            }
        }
        let hasOrdered = post.certain.contains {
            observers[$0].plan.thread == thread && observers[$0].plan.policy == .ordered && !observers[$0].isRemoving
        }
        if post.waits, hasOrdered { hadChance(before, on: thread, "a post that waits") }
    }

    private mutating func transformed(_ post: Int, _ observer: Int, _ hasValue: Bool) {
        frames[posts[post].thread].removeLast()
        let pair = Delivery.pair(post: post, observer: observer)
        check(
            stages[pair] == nil, "the transform of post \(post) for observer \(observer) was called too late or twice")
        // A post has its place after all its transforms: what they post comes before.
        check(!posts[post].wasCalled, "post \(post): a transform was called after a handler")
        posts[post].place = index
        posts[post].wasQuiet = isQuiet(posts[post].thread, except: post)
        guard !hasValue else { return }
        stages[pair] = .valueless
        posts[post].valueless += 1
        waiting[posts[post].thread].removeAll { $0 == pair }
    }

    private mutating func began(_ number: Int, _ observer: Int, _ thread: Int) {
        let post = posts[number]
        let plan = observers[observer].plan
        let pair = Delivery.pair(post: number, observer: observer)
        let text = "post \(number), observer \(observer)"
        check(stages[pair] == nil, "\(text): called again, or without a value")
        check(post.certain.contains(observer) || post.possible.contains(observer), "\(text): does not match")
        check(!post.isRefused, "\(text): the post was refused")
        check((plan.thread ?? post.thread) == thread, "\(text): called on thread \(thread)")
        check(!hasEnded[thread], "\(text): called after Thread.exit()")
        check(observers[observer].removedOn != thread, "\(text): called after the removal returned")
        let isOwn = post.thread == thread
        if plan.thread == nil || (plan.policy == .atOnce && isOwn) {
            check(!post.hasReturned, "\(text): called after post returned")
            check(post.lastDirect < observer, "\(text): called after observer \(post.lastDirect)")
            posts[number].lastDirect = observer
        } else {
            inOrder(
                Call(from: post.thread, on: thread), [post.place, isOwn && plan.policy == .later ? 1 : 0, observer],
                text)
        }
        if plan.policy == .later, isOwn, let frame = frames[thread].lastIndex(of: .post(number)) {
            check(frames[thread][(frame + 1)...].contains(where: drains), "\(text): called before post returned")
        }
        stages[pair] = .began
        posts[number].wasCalled = true
        observers[observer].delivered += 1
        waiting[thread].removeAll { $0 == pair }
        frames[thread].append(.call)
    }

    private mutating func performing(
        _ block: Int, _ from: Int, _ on: Int, _ order: RandomProgram.Action.Order
    ) {
        blocks.append(
            Block(
                from: from, on: on, order: order, place: index, wasQuiet: isQuiet(from),
                before: from == on && order == .andWait ? placed(on: on) : []))
        frames[from].append(.perform(block))
        if from == on { waiting[on].append(.block(block)) }
    }

    private mutating func performed(_ number: Int, _ isAccepted: Bool) {
        let block = blocks[number]
        blocks[number].hasReturned = true
        frames[block.from].removeLast()
        guard isAccepted else {
            check(!block.began || hasEnded[block.on], "block \(number) was refused and performed")
            waiting[block.on].removeAll { $0 == .block(number) }
            return
        }
        blocks[number].isAccepted = true
        if !block.began, block.from != block.on { waiting[block.on].append(.block(number)) }
        switch block.order {
        case .now: check(block.began || !block.wasQuiet, "block \(number): nothing waited, and it was not performed")
        case .later: break
        case .andWait: check(block.ended || hasEnded[block.on], "block \(number) was waited for, and not performed")
        }
    }

    private mutating func blockBegan(_ number: Int, _ thread: Int) {
        let block = blocks[number]
        check(!block.began, "block \(number) is performed again")
        check(block.on == thread, "block \(number) is performed on thread \(thread)")
        check(!hasEnded[thread], "block \(number) is performed after Thread.exit()")
        if block.order == .later, block.from == block.on {
            check(block.hasReturned, "block \(number) is performed before performLater returned")
        }
        inOrder(Call(from: block.from, on: thread), [block.place], "block \(number)")
        blocks[number].began = true
        waiting[thread].removeAll { $0 == .block(number) }
        frames[thread].append(.call)
        hadChance(block.before, on: thread, "the wait for block \(number)")
    }

    /// The post may or may not have been made.
    private mutating func withdraw(_ post: Int) {
        posts[post].possible += posts[post].certain
        posts[post].certain = []
    }

    // MARK: Rules

    /// True if a post on `thread` has the observer's delivery in the order of the thread.
    private func isPlaced(_ observer: Int, on thread: Int) -> Bool {
        observers[observer].plan.thread == thread && observers[observer].plan.policy != .atOnce
    }

    /// The deliveries that wait for a thread, without posts that still call transforms.
    private func placed(on thread: Int) -> [Delivery] { waiting[thread].filter { isPlaced($0, on: thread) } }

    private func isPlaced(_ delivery: Delivery, on thread: Int) -> Bool {
        guard case .pair(let post, _) = delivery else { return true }
        return !frames[thread].contains(.transform(of: post))
    }

    /// True if certainly nothing waits for a thread.
    private func isQuiet(_ thread: Int, except own: Int? = nil) -> Bool {
        program.shape == .oneThread
            && waiting[thread].allSatisfy { if case .pair(own, _) = $0 { true } else { false } }
    }

    private func drains(_ frame: Frame) -> Bool {
        switch frame {
        case .run: true
        case .post(let post): posts[post].waits
        case .perform(let block): blocks[block].order == .andWait
        case .call, .transform: false
        }
    }

    private func isSettled(_ delivery: Delivery) -> Bool {
        switch delivery {
        case .pair(let post, let observer):
            stages[delivery] != nil || observers[observer].isRemoving || posts[post].isRefused
        case .block(let block): blocks[block].began
        }
    }

    private mutating func hadChance(_ deliveries: [Delivery], on thread: Int, _ what: String) {
        // A thread that is told to stop may refuse what it posts itself.
        guard program.shape != .exit || thread == 0 else { return }
        for delivery in deliveries where isPlaced(delivery, on: thread) {
            check(isSettled(delivery), "\(what) on thread \(thread) left behind \(delivery)")
        }
        waiting[thread].removeAll { deliveries.contains($0) }
    }

    private mutating func inOrder(_ call: Call, _ place: [Int], _ text: String) {
        let before = last[call] ?? []
        check(before.lexicographicallyPrecedes(place), "\(text): called after \(before), its place is \(place)")
        last[call] = place
    }

    private func certainPosts(of observer: Int) -> Int {
        posts.count { !$0.isRefused && $0.certain.contains(observer) }
    }

    private mutating func finish(_ counters: [DeliveryCounters]) {
        // A thread that was told to stop gets no more deliveries either.
        let isCut = program.shape == .exit
        check(counters.count == observers.count, "\(counters.count) observers have counters")
        for (number, post) in posts.enumerated() where !post.isRefused {
            check(post.hasReturned || hasEnded[post.thread], "post \(number) has not returned")
            for observer in post.certain {
                let pair = Delivery.pair(post: number, observer: observer)
                let thread = observers[observer].plan.thread ?? post.thread
                check(isSettled(pair) || isCut && thread == 1, "post \(number), observer \(observer): never called")
            }
        }
        for (number, block) in blocks.enumerated() where block.isAccepted && !(isCut && block.on == 1) {
            check(block.ended || hasEnded[block.from], "block \(number) was never performed")
        }
        for (observer, counters) in counters.enumerated() {
            let known = observers[observer]
            let text = "observer \(observer), \(counters)"
            check(counters.waiting == 0, "\(text): something waits")
            check(counters.delivered == known.delivered, "\(text): its handler was called \(known.delivered) times")
            check(counters.cancelled == 0 || known.isRemoving, "\(text): it was not removed")
            check(counters.targetGone == 0 || isCut, "\(text): no thread has ended")
            check(counters.dropped + counters.coalesced + counters.refused == 0, "\(text): it has no bound")
            let posts = posts.filter { !$0.isRefused }
            let valueless = stages.count { entry in
                if case .pair(_, observer) = entry.key { entry.value == .valueless } else { false }
            }
            let counted = counters.total + valueless
            let certain = certainPosts(of: observer)
            let possible = posts.count { $0.possible.contains(observer) || $0.certain.contains(observer) } - certain
            check(
                (certain...certain + possible).contains(counted),
                "\(text), without value \(valueless): it matched \(certain) to \(certain + possible) posts")
        }
    }
}
