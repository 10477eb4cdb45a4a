import ThreadedNotifications

/// Programs that print what happened to their deliveries.
enum DeliveryChild: String, TestChild {
    /// Posts in the `deinit` of the object, in every way.
    case deinitPosts = "deinit"
    /// Forks; the copy posts for the threads of the parent, and waits for them.
    case fork
    /// The same, while the thread waits for a handler of another one.
    case forkInWait = "fork-in-wait"
    /// Forks in a block on a thread that is not the main thread, and on the main thread; the parent and the copy go on.
    case forkOnWorker = "fork-on-worker"
    case forkOnMain = "fork-on-main"
    /// Forks again and again while other threads post.
    case forkWhilePosting = "fork-while-posting"

    func run() throws {
        switch self {
        case .deinitPosts: try DeinitPosts().run()
        case .fork: try Forks().fork()
        case .forkInWait: try Forks().forkInWait()
        case .forkOnWorker:
            let forks = try Forks()
            try forks.forkInBlock(on: forks.worker)
        case .forkOnMain: try Forks().forkInBlock(on: .main)
        case .forkWhilePosting: try Forks().forkWhilePosting()
        }
    }
}
