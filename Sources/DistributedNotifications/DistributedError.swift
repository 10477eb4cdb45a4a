public import Foundation

/// Why a call of this library failed: what failed, on which name or path, why, and what to do about it.
///
///     do {
///         try center.post(name: name)
///     } catch where error.code == .notPosted {
///         …
///     }
///
/// Later versions may add codes, so a `switch` over `code` needs a `default`.
public struct DistributedError: Error, Hashable, Sendable {
    /// The kind of failure.
    public let code: Code
    /// The name of the notification or observer concerned.
    public private(set) var name: String?
    /// The object of the notification or observer concerned.
    public private(set) var object: String?
    /// The path concerned: of a directory or socket, or, for `.userInfoNotUsable`, of the value in the userInfo, such
    /// as `userInfo["sizes"][2]`.
    public private(set) var path: String?
    /// How long the call waited.
    public private(set) var timeout: Duration?
    /// The cause, and what to do, without the name or path concerned. `description` is the whole sentence.
    public let problem: String

    private init(
        _ code: Code, name: String? = nil, object: String? = nil, path: String? = nil, timeout: Duration? = nil,
        problem: String
    ) {
        self.code = code
        self.name = name
        self.object = object
        self.path = path
        self.timeout = timeout
        self.problem = problem
    }

    /// A kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        fileprivate enum Value: String {
            case nameNotUsable, objectNotUsable, userInfoNotUsable, tooManyObservers, pathNotUsable, serverNotStarted
            case serverRefused, notPosted, notAnswered, processForked, wouldWaitForItself, closed
            case actorNotPinned
        }

        fileprivate let value: Value

        fileprivate init(_ value: Value) {
            self.value = value
        }

        /// The name of a notification or an observer is empty, too long, or contains NUL.
        public static let nameNotUsable = Code(.nameNotUsable)
        /// The object of a notification or an observer is too long or contains NUL.
        public static let objectNotUsable = Code(.objectNotUsable)
        /// The userInfo contains a value that is not a property list, or is too large.
        public static let userInfoNotUsable = Code(.userInfoNotUsable)
        /// This process has as many observers as a server allows.
        public static let tooManyObservers = Code(.tooManyObservers)
        /// The directory or socket where processes meet their server cannot be used, or this process has no file
        /// descriptor left.
        public static let pathNotUsable = Code(.pathNotUsable)
        /// No server is running and none could be started.
        public static let serverNotStarted = Code(.serverNotStarted)
        /// The server refused to serve this process, or its answer could not be understood.
        public static let serverRefused = Code(.serverRefused)
        /// The notification could not be handed to the kernel within the timeout.
        public static let notPosted = Code(.notPosted)
        /// The server did not answer within the timeout.
        public static let notAnswered = Code(.notAnswered)
        /// This process is a copy, made by `fork`, of a process with a connection. The copy has no connection.
        public static let processForked = Code(.processForked)
        /// The call would wait for the thread that makes it.
        public static let wouldWaitForItself = Code(.wouldWaitForItself)
        /// The center was closed.
        public static let closed = Code(.closed)
        /// The actor runs neither on a `RunLoopThread` nor on the main thread.
        public static let actorNotPinned = Code(.actorNotPinned)

        public var description: String { value.rawValue }
    }
}

extension DistributedError: CustomStringConvertible, LocalizedError {
    /// The same as `description`; `localizedDescription` returns it.
    public var errorDescription: String? { description }

    public var description: String {
        let name = Self.shortened(name ?? "")
        let path = path ?? ""
        let timeout = timeout ?? .zero
        return switch code.value {
        case .nameNotUsable: "the name \"\(name)\" \(problem). A name is 1 to 255 bytes of UTF-8 without NUL."
        case .objectNotUsable:
            "the object \"\(Self.shortened(object ?? ""))\" \(problem). "
                + "An object is up to 1024 bytes of UTF-8 without NUL."
        case .userInfoNotUsable: "\(path) \(problem)."
        case .pathNotUsable: "cannot use \(path): \(problem)."
        case .serverNotStarted: "no server could be started at \(path): \(problem)."
        case .serverRefused: "the server at \(path) refused this process: \(problem)."
        case .notPosted: "\(name) was not posted within \(timeout): \(problem)."
        case .notAnswered: "the server has not answered within \(timeout): \(problem)."
        case .tooManyObservers, .processForked, .wouldWaitForItself, .closed, .actorNotPinned: "\(problem)."
        }
    }

    private static func shortened(_ text: String) -> String {
        text.count <= 60 ? text : "\(text.prefix(59))…"
    }
}

extension DistributedError {
    package static func nameNotUsable(name: String, problem: String) -> Self {
        Self(.nameNotUsable, name: name, problem: problem)
    }

    package static func objectNotUsable(object: String, problem: String) -> Self {
        Self(.objectNotUsable, object: object, problem: problem)
    }

    /// - Parameter path: where in the userInfo the value is.
    package static func userInfoNotUsable(path: String, problem: String) -> Self {
        Self(.userInfoNotUsable, path: path, problem: problem)
    }

    static func actorNotPinned(actor: String) -> Self {
        Self(
            .actorNotPinned,
            problem:
                "the actor \(actor) runs on no RunLoopThread, so nothing can be delivered to it on its thread. Give it "
                + "a RunLoopThread as its executor, or observe with an async handler")
    }

    package static func tooManyObservers(limit: Int) -> Self {
        Self(
            .tooManyObservers,
            problem:
                "this process has \(limit) observers, and a server allows no more. Remove some, or replace several "
                + "by one whose name is nil: it receives every notification")
    }

    package static func pathNotUsable(path: String, problem: String) -> Self {
        Self(.pathNotUsable, path: path, problem: problem)
    }

    package static func noDescriptor(path: String) -> Self {
        .pathNotUsable(
            path: path, problem: "this process has no file descriptor left. Close files, or raise the limit (ulimit -n)"
        )
    }

    package static func serverNotStarted(path: String, problem: String) -> Self {
        Self(.serverNotStarted, path: path, problem: problem)
    }

    package static func serverRefused(path: String, problem: String) -> Self {
        Self(.serverRefused, path: path, problem: problem)
    }

    package static func notPosted(name: String, problem: String, timeout: Duration) -> Self {
        Self(.notPosted, name: name, timeout: timeout, problem: problem)
    }

    /// - Parameter request: what the server was asked for.
    package static func notAnswered(_ request: String, path: String, timeout: Duration) -> Self {
        Self(
            .notAnswered, path: path, timeout: timeout,
            problem: "\(request) at \(path). It is busy or stopped: find its process, and continue or end it")
    }

    package static let processForked = Self(
        .processForked,
        problem:
            "this process was forked from one with a connection, and has none itself. Post and observe in a program "
            + "that it executes (exec), or fork before the center is first used")

    /// - Parameter call: the call that would wait.
    package static func wouldWaitForItself(_ call: String) -> Self {
        Self(
            .wouldWaitForItself,
            problem: "\(call) would wait for the calling thread itself, for ever. Do it on another thread than "
                + ".postingThread")
    }

    package static let closed = Self(.closed, problem: "the center was closed. Use another center, or close it later")
}
