/// F5 to F9: notification queues. Their questions are the queue promises with a fact number.
extension PlatformFact {
    static let notificationQueue: [PlatformFact] = [
        ("F5", "first in, first out"),
        ("F6", "idle only when the run loop waits"),
        ("F7", "a handler may enqueue and dequeue"),
        ("F8", "posted in any run loop mode"),
        ("F9", "used on two threads: posted, and nothing is lost silently"),
    ].map { number, expected in
        PlatformFact(
            number: number, area: "NotificationQueue", expected: expected,
            questions: QueuePromise.all.filter { $0.fact == number }.map { TrialQuestion($0) })
    }
}
