/// A known difference between Foundation on Linux and the expected behaviour.
package struct Fact: Sendable {
    /// The number, such as `F7`.
    package var number: String
    /// The part of Foundation that the fact concerns.
    var area: String
    /// The expected behaviour in a few words.
    var expected: String

    package var questions: [Question] { Question.all.filter { $0.fact == number } }

    package static let all = [
        ("NotificationCenter", "observers are called in the order registered"),
        ("NotificationCenter", "removing a token twice is harmless"),
        ("NotificationCenter", "a removed observer is not called"),
        ("NotificationCenter", "observers are matched by sender"),
        ("NotificationQueue", "first in, first out"),
        ("NotificationQueue", "idle only when the run loop waits"),
        ("NotificationQueue", "a handler may enqueue and dequeue"),
        ("NotificationQueue", "posted in any run loop mode"),
        ("NotificationQueue", "used on two threads: posted, and nothing is lost silently"),
        ("addObserver(queue:)", "asynchronous"),
        ("addObserver(queue:)", "no deadlock"),
        ("addObserver(queue:)", "an observer retains its queue or thread"),
        ("RunLoop.perform", "wakes a run loop that sleeps"),
        ("Timer", "Timer(timeInterval: 2, …) fires after 2 s"),
        ("Thread", "a thread's name is kept"),
        ("Thread", "a thread is described by number and name, and logged by its id"),
        ("Thread", "the end of a thread is reported"),
        ("async messages", "in order, complete, and they end with their task"),
        ("wildcard observer", "an observer of any name is called"),
        ("missing", "what the documents use is there"),
        ("SocketPort", "a port of this computer, whose run loop receives its messages"),
        ("async main", "the main actor is on the main thread, and its run loop runs"),
        ("PropertyListSerialization", "bytes of anybody can be read, or refused"),
    ].enumerated().map { Fact(number: "F\($0 + 1)", area: $1.0, expected: $1.1) }
}
