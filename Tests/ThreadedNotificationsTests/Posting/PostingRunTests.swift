import Foundation
import Testing

@testable import ThreadedNotifications

/// What posting does to the runs of a run loop.
@Suite("Posting and the runs of the run loop", .timeLimit(.minutes(10)))
struct PostingRunTests {
    /// "Note that a run loop that is about to exit (which occurs when all of the input channels have expired) is not in a wait
    /// state and thus will not post a notification."
    @Test("a run loop whose input channels have expired returns, posts asap and not idle, which the next run posts")
    func expired() throws {
        let runs = try onThread { runs in
            RunLoop.current.add(
                Timer(fire: Date(), interval: 0, repeats: false) { _ in
                    runs.queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
                    runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
                }, forMode: .default)
            while RunLoop.current.run(mode: .default, before: .distantFuture) { runs.posted.append("returned") }
        }
        #expect(runs.posted == ["asap", "returned", "idle", "returned"])
        #expect(runs.queue.counters == DeliveryCounters(delivered: 2))
    }

    @Test("a run loop that has nothing else posts what waits asap, and returns", arguments: ["one", "default"])
    func nothingElse(mode: String) throws {
        let mode = mode == "one" ? RunLoop.Mode("of its own") : .default
        let runs = try onThread { runs in
            runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap, forModes: [mode])
            while RunLoop.current.run(mode: mode, before: .distantFuture) { runs.returns += 1 }
        }
        #expect(runs.posted == ["asap"])
        #expect(runs.returns == 1)
    }

    @Test("what was dequeued keeps no run loop from returning")
    func dequeued() throws {
        let runs = try onThread { runs in
            runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
            runs.queue.dequeueNotifications(matching: Notification(name: .init("asap")))
            while RunLoop.current.run(mode: .default, before: .distantFuture) { runs.returns += 1 }
        }
        #expect(runs.posted.isEmpty)
        #expect(runs.returns == 0)
    }

    @Test("a post and a port that is signalled make one run return, and not the next")
    func oneReturn() throws {
        let runs = try onThread { runs in
            let port = SignalPort()
            RunLoop.current.add(port, forMode: .default)
            runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
            port.send(before: Date(), components: nil, from: nil, reserved: 0)
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            RunLoop.current.add(
                Timer(fire: Date(), interval: 0, repeats: false) { _ in
                    runs.returns = 1
                    port.send(before: Date(), components: nil, from: nil, reserved: 0)
                }, forMode: .default)
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            // The timer has fired by the time that the second returns.
            runs.returns += 1
            port.invalidate()
        }
        #expect(runs.posted == ["asap"])
        #expect(runs.returns == 2)
    }

    @Test(
        "a run that only what is idle keeps ends when that is taken out while the run loop looks whether it waits",
        arguments: ["dequeued", "coalesced"])
    func takenOut(how: String) throws {
        let runs = try onThread { runs in
            runs.queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
            // Told after the queue's.
            let observer = RunLoopObserver { activity in
                guard activity == .beforeWaiting, runs.queue.counters.waiting > 0 else { return }
                let idle = Notification(name: .init("idle"))
                if how == "dequeued" {
                    runs.queue.dequeueNotifications(matching: idle)
                } else {
                    runs.queue.enqueue(idle, postingStyle: .now)
                }
            }
            observer.add(to: .current, mode: .default)
            while RunLoop.current.run(mode: .default, before: .distantFuture) { runs.returns += 1 }
            observer.invalidate()
        }
        #expect(runs.posted == (how == "dequeued" ? [] : ["idle"]))
        #expect(runs.returns == 1)
    }

    @Test("a run returns after a post, also if another was nested in it in between", arguments: ["default", "other"])
    func returnAfterNested(mode: String) throws {
        let mode = mode == "other" ? RunLoop.Mode("nested") : .default
        let runs = try onThread { runs in
            RunLoop.current.add(SignalPort(), forMode: .default)
            RunLoop.current.add(SignalPort(), forMode: mode)
            runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap, forModes: [.default])
            runs.queue.enqueue(Notification(name: .init("other")), postingStyle: .asap, forModes: [mode])
            runs.queue.dequeueNotifications(matching: Notification(name: .init("other")))
            RunLoop.current.perform {
                // It has nothing to return for.
                _ = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: 0.01))
                runs.posted.append("nested run")
            }
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
        }
        #expect(runs.posted == ["asap", "nested run"])
    }

    @Test("a run looks at its limit again after one was nested in it, in a mode that was used then for the first time")
    func limitAfterNested() throws {
        let runs = try onThread { runs in
            RunLoop.current.add(SignalPort(), forMode: .default)
            runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            let nested = RunLoop.Mode("nested")
            RunLoop.current.add(SignalPort(), forMode: nested)
            RunLoop.current.perform {
                RunLoop.current.add(
                    Timer(fire: Date(), interval: 0, repeats: false) { _ in
                        runs.queue.enqueue(Notification(name: .init("new")), postingStyle: .now, forModes: [nested])
                    }, forMode: nested)
                // The outer one's time is over meanwhile, and this one is woken for it.
                _ = RunLoop.current.run(mode: nested, before: Date(timeIntervalSinceNow: 0.1))
            }
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
        }
        #expect(runs.posted == ["asap", "new"])
    }

    @Test("a nested run loop is idle, and does not spin, while a delivery to this thread waits its turn")
    func idleWhileHeld() throws {
        let runs = try onThread { runs in
            let center = ThreadedNotificationCenter()
            let name = Notification.Name("held")
            let tokens = [
                center.addObserver(forName: name, on: .postingThread) { _ in
                    runs.queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
                    while runs.posted.last != "idle", runs.returns < 1000 {
                        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 10))
                        runs.returns += 1
                    }
                },
                center.addObserver(forName: name, on: .current) { _ in runs.posted.append("held") },
            ]
            center.post(name: name)
            withExtendedLifetime(tokens) {}
        }
        #expect(runs.posted == ["held", "idle"])
        #expect(runs.returns == 2)
    }

    @Test("observers for nested run loops go when the nest is left")
    func nested() throws {
        let runs = try onThread { runs in
            runs.whenPosted = { name in
                guard let depth = Int(name), depth < 50 else { return }
                runs.queue.enqueue(Notification(name: .init("\(depth + 1)")), postingStyle: .asap)
                while runs.posted.count <= depth + 1 { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
            }
            runs.queue.enqueue(Notification(name: .init("0")), postingStyle: .asap)
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            runs.returns = ThreadContext.current.mailbox?.postings.state.withLock { $0.modeQueues.observers.count } ?? 0
        }
        #expect(runs.returns <= 2)
        #expect(runs.posted == (0...50).map(String.init))
    }

    /// Runs it on a thread that has no source of its own, and waits for its end.
    private func onThread(_ body: @escaping @Sendable (Runs) -> Void) throws -> Runs {
        let runs = Runs()
        let thread = try SystemThread.start {
            runs.queue = PostingQueue(center: runs)
            body(runs)
        }.get()
        try #require(thread.join(until: .after(TestLimit.hang)))
        return runs
    }
}

// Safety: used on one thread, and looked at after that has ended.
private final class Runs: PostingCenter, @unchecked Sendable {
    var queue: PostingQueue!
    var posted: [String] = []
    var returns = 0
    var whenPosted: (String) -> Void = { _ in }

    func post(_ queued: QueuedNotification) {
        posted.append(queued.notification.name.rawValue)
        whenPosted(queued.notification.name.rawValue)
    }
}
