public import ThreadedNotifications

/// The typed details of some stages.
extension Recording {
    /// The object of a notification: its identifier and type.
    public typealias Sender = DeliveryEvent.Sender

    /// A posting style.
    public enum Style: String, Sendable, Hashable, CaseIterable {
        case now
        case asap
        case whenIdle
    }

    /// An overflow policy that drops notifications.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        case dropOldest
        case dropNewest
        case refuse
        /// In recordings of earlier versions: `post` waited for room.
        case block
    }

    /// How something ended, or why it accepts nothing.
    public enum Reason: Sendable, Hashable, CustomStringConvertible {
        /// The process exited.
        case exit
        /// The recording was stopped.
        case stopped
        /// A signal ended the process.
        case signal(UInt8)
        /// The thread was never started.
        case notStarted
        /// The wait lasted for its timeout.
        case timedOut
        /// The observer to remove was not registered any more.
        case alreadyRemoved
        /// A call removed the observer.
        case cancelled
        /// The last reference to the observer's token was released.
        case released

        /// By the values of `reason` in a record, except `signal`.
        private static let named: [String: Reason] = [
            "exit": .exit, "stopped": .stopped, "notStarted": .notStarted, "timedOut": .timedOut,
            "alreadyRemoved": .alreadyRemoved, "cancelled": .cancelled, "released": .released,
        ]

        /// - Parameter signal: the value of `signal` in the record, or 0.
        init?(name: String, signal: UInt64) {
            guard let known = name == "signal" ? .signal(UInt8(clamping: signal)) : Self.named[name] else { return nil }
            self = known
        }

        /// `exit`, `stopped`, `signal 11`, `not started`, `timed out`, `already removed`, `cancelled` or `released`.
        public var description: String {
            if case .signal(let number) = self { return "signal \(number)" }
            let name = Self.named.first { $0.value == self }?.key ?? ""
            return name.map { $0.isUppercase ? " \($0.lowercased())" : "\($0)" }.joined()
        }

        /// True if a signal ended the process.
        public var isSignal: Bool {
            if case .signal = self { true } else { false }
        }
    }

    /// What a record has of Foundation's own API.
    public struct FoundationDetails: Sendable, Hashable {
        /// The address of the notification center, in hexadecimal.
        public var center: String?
        /// Of `register`: the operation queue that runs the handler, `main` or its address in hexadecimal. Nil means
        /// that the handler is called on the posting thread.
        public var queue: String?
        /// True if Foundation itself made the call, such as the post of a process's end.
        public var isCalledByFoundation: Bool

        package init(center: String? = nil, queue: String? = nil, isCalledByFoundation: Bool = false) {
            (self.center, self.queue, self.isCalledByFoundation) = (center, queue, isCalledByFoundation)
        }
    }

    /// The message and the typed details of the stage in words, such as `dropOldest(3)` or `signal 11`; nil if there
    /// are none.
    public func details(of entry: Entry) -> String? {
        let count = entry.count < 0 ? nil : entry.count
        guard entry.overtakes || entry.style != nil || entry.policy != nil || entry.reason != nil else {
            return message(of: entry)
        }
        return [
            entry.overtakes ? "overtakes" : nil, entry.style?.rawValue,
            entry.policy.map { policy in count.map { "\(policy.rawValue)(\($0))" } ?? policy.rawValue },
            entry.reason.map { reason in reason == .exit ? count.map { "exit \($0)" } ?? "exit" : reason.description },
            message(of: entry),
        ].compactMap(\.self).joined(separator: ", ")
    }
}
