import ThreadedNotifications

/// Programs that print what happened to their deliveries.
enum DeliveryChild: String, TestChild {
    /// Posts in the `deinit` of the object, in every way.
    case deinitPosts = "deinit"
    case fork

    func run() throws {
        switch self {
        case .deinitPosts: try DeinitPosts().run()
        case .fork: try Forks().run()
        }
    }
}
