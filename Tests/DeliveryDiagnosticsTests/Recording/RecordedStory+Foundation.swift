package import DeliveryRecording
package import ThreadedNotifications

/// Records of Foundation's own center, as a preloaded recorder writes them.
extension RecordedStory {
    package static let center = "7f0010"

    /// Adds the registration of an observer.
    ///
    /// - Parameter queue: its operation queue; nil means that the poster calls it.
    package mutating func addFoundationObserver(
        _ observer: Int, _ name: String? = "Done", on thread: ThreadIdentity = main, queue: String? = nil,
        center: String = center, sender: Recording.Sender? = nil, at location: Int? = nil
    ) {
        add(
            .register, on: thread, name, observer: observer, at: location ?? observer, sender: sender,
            foundation: .init(center: center, queue: queue))
    }

    /// Adds a post that calls the handlers of some observers.
    ///
    /// - Parameter target: the thread of an operation queue that runs the handlers; nil means the posting thread.
    package mutating func postToFoundation(
        _ post: Int, to observers: [Int] = [], from thread: ThreadIdentity = main, on target: ThreadIdentity? = nil,
        _ name: String = "Done", center: String = center, sender: Recording.Sender? = nil,
        for duration: Duration = .zero
    ) {
        beginFoundationPost(post, from: thread, name, center: center, sender: sender)
        for observer in observers { runFoundationHandler(post, by: observer, on: target ?? thread, for: duration) }
        endFoundationPost(post, count: observers.count, from: thread)
    }

    package mutating func beginFoundationPost(
        _ post: Int, from thread: ThreadIdentity = main, _ name: String = "Done", center: String = center,
        sender: Recording.Sender? = nil
    ) {
        add(
            .post, on: thread, name, post: post, at: 1000 + post, sender: sender, foundation: .init(center: center))
    }

    package mutating func endFoundationPost(_ post: Int, count: Int, from thread: ThreadIdentity = main) {
        add(.postEnd, on: thread, nil, post: post, count: count, foundation: .init())
    }

    /// The lines have no name.
    package mutating func runFoundationHandler(
        _ post: Int, by observer: Int, on thread: ThreadIdentity, for duration: Duration = .zero
    ) {
        add(.deliver, on: thread, nil, post: post, observer: observer, foundation: .init())
        pass(duration)
        add(.return, on: thread, nil, post: post, observer: observer, foundation: .init())
    }
}
