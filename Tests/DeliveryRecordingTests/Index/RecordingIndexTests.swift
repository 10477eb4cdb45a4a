import RecordingTesting
import SharedTesting
import Testing
import ThreadedNotifications

@testable import DeliveryRecording

private typealias Story = RecordedStory

@Suite("The index of a recording")
struct RecordingIndexTests {
    private func index(_ happen: (inout RecordedStory) -> Void) -> RecordingIndex {
        var story = RecordedStory()
        happen(&story)
        return RecordingIndex(story.recording)
    }

    @Test("a delivery has its post, its append, its outcome and the call of its handler")
    func delivery() {
        let index = index {
            $0.add(.post, on: Story.worker, post: 1, count: 2)
            $0.add(.append, on: Story.worker, post: 1, observer: 1, target: Story.main)
            $0.add(.append, on: Story.worker, post: 1, observer: 2, target: Story.main)
            $0.add(.deliver, post: 1, observer: 2)
            $0.add(.log, nil)
            $0.add(.return, post: 1, observer: 2)
            $0.add(.drop, on: Story.worker, post: 1, observer: 2)
            $0.add(.skip, post: 1, observer: 3)
        }
        #expect(index.posts[0].posted == 0 && index.posts[0].deliveryCount == 3)
        #expect(Array(index.deliveries(ofPost: 0)) == [0, 1, 2])
        #expect(index.deliveries.map(\.append) == [1, 2, -1])
        #expect(index.deliveries.map(\.outcome) == [-1, 3, -1])
        #expect(index.deliveries.map(\.secondOutcome) == [-1, 6, -1])
        #expect(index.deliveries.map(\.isPending) == [true, false, false])
        #expect(index.pendingCount(ofPost: 0) == 1)
        #expect(index.deliveryOfEntry == [-1, 0, 1, 1, -1, -1, 1, 2])
        #expect(index.spanOfEntry == [-1, -1, -1, 0, -1, 0, -1, -1])
        #expect(index.spanAroundEntry == [-1, -1, -1, -1, 0, 0, -1, -1])
        #expect(index.spans[0].delivery == 1 && index.spans[0].ending == .returned)
        #expect((index.partner(of: 3), index.partner(of: 5)) == (5, 3))
        #expect(index.mailbox(of: index.deliveries[0]) == index.recording.entries[1].target)
        #expect(index.duration(of: index.spans[0]) == 2_000_000)
    }

    @Test("a return before its call is stray, and ends no later call")
    func outOfOrder() {
        let index = index {
            $0.add(.return, post: 1, observer: 1)
            $0.add(.deliver, post: 1, observer: 1)
        }
        #expect(index.strayReturns == [0])
        #expect(index.spans.map(\.ending) == [.open])
    }

    @Test("a handler ends with the one around it, and a wait with the innermost waitEnd of its thread")
    func spans() {
        let index = index {
            $0.add(.wait, nil)
            $0.add(.deliver, post: 1, observer: 1)
            $0.add(.waitEnd, on: Story.worker, nil)
            $0.add(.deliver, post: 2, observer: 1)
            $0.add(.return, post: 1, observer: 1)
            $0.add(.waitEnd, nil)
            $0.add(.return, post: 2, observer: 1)
            $0.add(.deliver, nil, post: 3)
            $0.add(.threadEnd, nil)
            $0.add(.deliver, on: Story.worker, nil, post: 4)
            $0.end()
        }
        #expect(index.spans.map(\.ending) == [.returned, .returned, .abandoned, .abandoned, .open])
        #expect(index.spans.map(\.end) == [5, 4, 4, 8, 10])
        #expect(index.spans.map(\.depth) == [0, 1, 2, 0, 0])
        #expect(index.spans.map(\.outer) == [-1, 0, 1, -1, -1])
        #expect(index.handlerAround(1) == -1 && index.handlerAround(3) == 1 && index.depth(of: 4) == 3)
        #expect(index.strayReturns == [6])
    }

    @Test("the same numbers in two processes are different posts")
    func processes() {
        let index = index {
            $0.add(.append, on: Story.worker, post: 1, observer: 1, target: Story.main)
            $0.process = ProcessIdentity(id: 2, name: "other")
            $0.add(.deliver, post: 1, observer: 1)
        }
        #expect(index.deliveries.count == 2)
    }

    @Test("a block has one outcome, and its append is its origin")
    func blocks() {
        let index = index {
            $0.add(.append, on: Story.worker, nil, post: 1, target: Story.main)
            $0.add(.targetGone, nil, post: 1)
            $0.add(.cancel, nil, post: 1)
        }
        #expect(index.deliveries.map(\.kind) == [.block])
        #expect(index.deliveries[0].outcome == 1 && index.deliveries[0].secondOutcome == 2)
        #expect(index.origin(ofPost: 0) == 0 && index.name(ofPost: 0) == -1)
    }

    @Test(
        "observers of the document's technique have as many deliveries as captures, and wait for the thread that added them"
    )
    func redirected() {
        let index = index {
            $0.add(.register)
            $0.add(.post, on: Story.worker, post: 1)
            for _ in 1...3 { $0.add(.capture, on: Story.worker, post: 1) }
            for _ in 1...2 { $0.add(.deliver, post: 1) }
        }
        #expect(index.deliveries.map(\.append) == [2, 3, 4])
        #expect(index.deliveries.filter(\.isPending).count == 1)
        #expect(index.deliveries.map { index.mailbox(of: $0) } == [0, 0, 0])
        #expect(index.spans.map(\.ending) == [.notRecorded, .notRecorded])
        #expect(index.origin(ofPost: 0) == 1)
        #expect(index.depth(of: 6) == 0)
    }

    @Test("handlers of the document's technique nest if they record that they return")
    func redirectedReturns() {
        let index = index {
            $0.add(.register)
            $0.add(.post, post: 1)
            $0.add(.deliver, post: 1)
            $0.add(.post, post: 2)
            $0.add(.deliver, post: 2)
            $0.add(.return, post: 2)
            $0.add(.return, post: 1)
        }
        #expect(index.spans.map(\.ending) == [.returned, .returned])
        #expect(index.spans.map(\.depth) == [0, 1])
        #expect(index.posts.map(\.cause) == [-1, 0])
    }

    @Test("a capture from a Foundation center is a post of its own, caused by what enqueued it")
    func capture() {
        let index = index {
            $0.add(.deliver, on: Story.worker, "Other", post: 3, observer: 9)
            $0.add(.enqueue, on: Story.worker, post: 1)
            $0.add(.return, on: Story.worker, "Other", post: 3, observer: 9)
            $0.add(.post, on: Story.worker, post: 1)
            $0.add(.capture, on: Story.worker, post: 2, count: 1, relatedPost: 1)
            $0.add(.append, on: Story.worker, post: 2, observer: 1, target: Story.main)
        }
        let (queued, captured) = (index.posts[1], index.posts[2])
        #expect(queued.enqueued == 1 && queued.queueOutcome == 3 && queued.cause == 0)
        #expect(captured.posted == 4 && captured.deliveryCount == 1 && captured.cause == 0)
    }

    @Test("the cause of an enqueued notification is what enqueued it, not the handler during which it is posted")
    func causeOfEnqueued() {
        let index = index {
            $0.add(.post, post: 1, count: 1)
            $0.add(.enqueue, post: 2, target: Story.main)
            $0.add(.deliver, post: 1, observer: 1, target: Story.main)
            $0.add(.post, post: 2, count: 0)
            $0.add(.return, post: 1, observer: 1)
        }
        #expect(index.posts.map(\.cause) == [-1, -1])
    }

    @Test("a notification leaves its posting queue once, and a stray outcome is kept apart")
    func queues() {
        let index = index {
            $0.add(.enqueue, post: 1, target: Story.main)
            $0.add(.enqueue, post: 2, target: Story.main)
            $0.add(.dequeue, post: 2)
            $0.add(.post, post: 1)
            $0.add(.coalesce, post: 1)
            $0.add(.dequeue, post: 3)
        }
        #expect(index.posts.map(\.queueOutcome) == [3, 2, -1])
        #expect(index.posts.map(\.secondQueueOutcome) == [4, -1, -1])
        #expect(index.strayQueueOutcomes == [5])
    }

    @Test("a post is unfinished if the recording ends while it is made")
    func unfinished() {
        func isUnfinished(_ reason: DeliveryRecord.Reason) -> Bool {
            index {
                $0.add(.post, post: 1, count: 2)
                $0.end(reason)
            }.posts[0].isUnfinished
        }
        #expect(isUnfinished(.signal(11)))
        #expect(!isUnfinished(.exit))
    }

    @Test("observers, threads and processes have their first, last and end records")
    func lives() {
        let index = index {
            $0.add(.register, observer: 1, target: Story.worker)
            $0.add(.deliver, on: Story.worker, observer: 1)
            $0.add(.remove, observer: 1)
            $0.add(.threadEnd, on: Story.worker, nil)
            $0.end()
        }
        let observer = index.observers[0]
        #expect((observer.registered, observer.removed, observer.earlier) == (0, 2, 1))
        #expect(index.threads.map(\.first) == [0, 0] && index.threads.map(\.last) == [2, 3])
        #expect(index.threads.map(\.end) == [-1, 3])
        #expect(index.processes.map(\.last) == [4] && index.processes.map(\.end) == [4])
    }

    @Test("the links of random records go both ways")
    func random() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let index = index { story in
                for _ in 0..<Int.random(in: 1...80, using: &generator) {
                    func maybe(_ most: Int) -> Int? {
                        let number = Int.random(in: 0...most, using: &generator)
                        return number == 0 ? nil : number
                    }
                    story.add(
                        DeliveryStage.allCases.randomElement(using: &generator) ?? .post,
                        on: Story.thread(maybe(2) ?? 3), maybe(3).map { "\($0)" }, post: maybe(4), observer: maybe(3),
                        target: maybe(3).map { Story.thread($0) }, count: maybe(3), relatedPost: maybe(4))
                }
            }
            for (number, delivery) in index.deliveries.enumerated() {
                for entry in [delivery.append, delivery.outcome, delivery.secondOutcome, delivery.skip] where entry >= 0
                {
                    #expect(index.deliveryOfEntry[Int(entry)] == number)
                }
                #expect(index.deliveries(ofPost: delivery.post).contains(number))
            }
            for (number, span) in index.spans.enumerated() {
                #expect(index.spanOfEntry[Int(span.begin)] == number)
                #expect(span.ending != .returned || index.spanOfEntry[Int(span.end)] == number)
                #expect(
                    span.outer < number && span.depth == (span.outer < 0 ? 0 : index.spans[Int(span.outer)].depth + 1))
            }
            for entry in index.recording.entries.indices where index.spanAroundEntry[entry] >= 0 {
                let span = index.spans[Int(index.spanAroundEntry[entry])]
                #expect(span.thread == index.recording.entries[entry].thread)
                #expect(Int(span.begin) < entry && (span.end < 0 || Int(span.end) >= entry))
            }
        }
    }
}
