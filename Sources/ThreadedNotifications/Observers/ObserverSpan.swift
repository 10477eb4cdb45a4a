/// The observers of one notification, in the order in which they were added. Using it counts no references.
struct ObserverSpan {
    private var start: UnsafeMutablePointer<Unmanaged<Observer>>?
    private(set) var count = 0

    init() {}

    /// Retains the observers until `release`.
    /// - Parameter observers: nil where an observer was removed.
    init(retaining observers: [Observer?]) {
        guard !observers.isEmpty else { return }
        let start = UnsafeMutablePointer<Unmanaged<Observer>>.allocate(capacity: observers.count)
        for case let observer? in observers {
            (start + count).initialize(to: .passRetained(observer))
            count += 1
        }
        self.start = start
    }

    func release() {
        for index in 0..<count { start?[index].release() }
        start?.deallocate()
    }

    /// Calls `body` with the observers of a list, which is retained meanwhile.
    static func with<Result>(_ observers: [Observer?], _ body: (ObserverSpan) -> Result) -> Result {
        withExtendedLifetime(observers) {
            withUnsafeTemporaryAllocation(of: Unmanaged<Observer>.self, capacity: observers.count) { memory in
                var span = ObserverSpan()
                span.start = memory.baseAddress
                for case let observer? in observers {
                    memory.initializeElement(at: span.count, to: .passUnretained(observer))
                    span.count += 1
                }
                return body(span)
            }
        }
    }

    /// True if all of these observers get a message itself, and none gets its notification.
    @inline(__always)
    func get(_ message: PostedMessage) -> Bool {
        guard let start else { return true }
        let type = message.typeIdentifier
        return (0..<count).allSatisfy { start[$0]._withUnsafeGuaranteedRef { $0.messageType == type } }
    }

    @inline(__always)
    func each(_ body: (Observer) -> Void) {
        guard let start else { return }
        for index in 0..<count { start[index]._withUnsafeGuaranteedRef { body($0) } }
    }
}
