import NotificationCompatibility

/// Searches on a thread of its own when the user stops typing, and shows the result on the main thread.
@MainActor
final class SearchController: NSObject {
    private let worker = NetworkThread()
    private var pending: DelayedBlock?
    private let index: [String]

    private(set) var results: [String] = []
    var didShow: (@MainActor ([String]) -> Void)?

    init(index: [String]) {
        self.index = index
        super.init()
        worker.name = "search"
        worker.start()
    }

    func controlTextDidChange(_ text: String, delay: TimeInterval) {
        pending?.cancel()
        pending = perform(afterDelay: delay) { [weak self] in
            MainActor.assumeIsolated { self?.search(text) }
        }
    }

    private func search(_ text: String) {
        let index = index
        perform(on: worker, waitUntilDone: false) { [weak self] in
            let found = index.filter { $0.localizedCaseInsensitiveContains(text) }
            Thread.main.performOnMainThread(waitUntilDone: false) {
                self?.show(found)
            }
        }
    }

    private func show(_ found: [String]) {
        results = found
        didShow?(found)
    }

    func windowWillClose() {
        pending?.cancel()
        worker.stop()
    }
}
