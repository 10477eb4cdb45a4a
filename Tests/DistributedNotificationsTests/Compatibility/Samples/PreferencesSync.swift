import NotificationCompatibility

extension Notification.Name {
    static let preferencesDidChange = Notification.Name("com.example.preferences.didChange")
    static let screenIsLocked = Notification.Name("com.apple.screenIsLocked")
}

/// The preferences of a program and its helper, which tell each other about changes.
@MainActor
final class PreferencesSync: NSObject {
    private let center: DistributedNotificationCenter
    private let identifier: String
    private var observers: [any NSObjectProtocol] = []
    private let work = OperationQueue()

    private(set) var values: [String: Any] = [:]
    private(set) var isLocked = false
    nonisolated let journal = Log()

    init(identifier: String, center: DistributedNotificationCenter = .default()) {
        self.identifier = identifier
        self.center = center
        super.init()
        work.maxConcurrentOperationCount = 1
        observers.append(
            center.addObserver(forName: .preferencesDidChange, object: nil, queue: .main) { [weak self] notification in
                let (sender, change) = (notification.object as? String, notification.userInfo?["change"])
                guard let key = (change as? [String: Any])?["key"] as? String else { return }
                nonisolated(unsafe) let value = (change as? [String: Any])?["value"]
                MainActor.assumeIsolated {
                    self?.apply(key, value, from: sender)
                }
            })
        observers.append(
            center.addObserver(
                forName: .screenIsLocked, object: nil, suspensionBehavior: .deliverImmediately, queue: nil
            ) { [weak self] _ in
                MainActor.assumeIsolated { self?.isLocked = true }
            })
        observers.append(
            center.addObserver(forName: .preferencesDidChange, object: identifier, queue: work) { [journal] in
                journal.write("\($0.object as? String ?? "-") changed its preferences")
            })
    }

    private func apply(_ key: String, _ value: Any?, from sender: String?) {
        guard sender != identifier else { return }
        values[key] = value
    }

    func set(_ value: Any, for key: String) {
        values[key] = value
        center.postNotificationName(
            .preferencesDidChange, object: identifier, userInfo: ["change": ["key": key, "value": value]],
            deliverImmediately: false)
    }

    func lockScreen() {
        center.postNotificationName(.screenIsLocked, object: nil, userInfo: nil, options: [.deliverImmediately])
    }

    func applicationDidHide() {
        center.suspended = true
    }

    func applicationDidUnhide() {
        center.suspended = false
    }

    func invalidate() {
        for observer in observers { center.removeObserver(observer) }
        observers = []
    }
}
