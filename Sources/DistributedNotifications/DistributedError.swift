public import Foundation
internal import ThreadedNotifications

/// Why a call of this library failed: what failed, on what, why, and what to do.
///
///     do { try center.post(name: name) } catch where error.code == .notPosted { … }
///
/// `description`, also as `errorDescription`, is the whole message.
public struct DistributedError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// A kind of failure. Later versions may add codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The name of a notification or an observer is empty, too long, or contains NUL.
        public static let nameNotUsable = Code(description: "nameNotUsable")
        /// The object of a notification or an observer is too long or contains NUL.
        public static let objectNotUsable = Code(description: "objectNotUsable")
        /// The userInfo is no property list, is too large, or is not of the type asked for.
        public static let userInfoNotUsable = Code(description: "userInfoNotUsable")
        /// This process has as many observers as a server allows.
        public static let tooManyObservers = Code(description: "tooManyObservers")
        /// The directory or socket of the server cannot be used, or this process has no file descriptor left.
        public static let pathNotUsable = Code(description: "pathNotUsable")
        /// No server is running and none could be started.
        public static let serverNotStarted = Code(description: "serverNotStarted")
        /// The server refused to serve this process, or its answer could not be understood.
        public static let serverRefused = Code(description: "serverRefused")
        /// The notification could not be handed to the kernel within the timeout.
        public static let notPosted = Code(description: "notPosted")
        /// The server did not answer within the timeout.
        public static let notAnswered = Code(description: "notAnswered")
        /// This process is a copy, made by `fork`, of a process with a connection. The copy has no connection.
        public static let processForked = Code(description: "processForked")
        /// The center was closed.
        public static let closed = Code(description: "closed")
    }

    /// The kind of failure.
    public let code: Code
    /// The path concerned: of a directory or socket, or, for `.userInfoNotUsable`, of the value in the userInfo, such
    /// as `userInfo["sizes"][2]`.
    public private(set) var path: String?
    /// The reason in words, and what to do, without the name or path concerned.
    public private(set) var cause: String?
    public let description: String
    public var errorDescription: String? { description }

    private static func shortened(_ text: String) -> String { text.count <= 60 ? text : "\(text.prefix(59))…" }

    /// The part of a path in a userInfo that is the key of a dictionary.
    static func step(_ key: String) -> String { "[\"\(shortened(key))\"]" }
}

// One function for each code, so that a throw names everything that the code needs.
extension DistributedError {
    package static func nameNotUsable(name: String, problem: String) -> DistributedError {
        DistributedError(
            code: .nameNotUsable, cause: problem,
            description: "the name \"\(shortened(name))\" \(problem). A name is 1 to \(Wire.nameLimit) bytes of UTF-8 "
                + "without NUL.")
    }

    package static func objectNotUsable(object: String, problem: String) -> DistributedError {
        DistributedError(
            code: .objectNotUsable, cause: problem,
            description: "the object \"\(shortened(object))\" \(problem). An object is up to \(Wire.objectLimit) bytes "
                + "of UTF-8 without NUL.")
    }

    /// - Parameter path: where in the userInfo the value is.
    package static func userInfoNotUsable(path: String = "userInfo", problem: String) -> DistributedError {
        Self(code: .userInfoNotUsable, path: path, cause: problem, description: "\(path) \(problem).")
    }

    package static func pathNotUsable(path: String, problem: String) -> DistributedError {
        Self(code: .pathNotUsable, path: path, cause: problem, description: "cannot use \(path): \(problem).")
    }

    package static func serverNotStarted(path: String, problem: String) -> DistributedError {
        let text = "no server could be started at \(path): \(problem)."
        return Self(code: .serverNotStarted, path: path, cause: problem, description: text)
    }

    package static func serverRefused(path: String, problem: String) -> DistributedError {
        let text = "the server at \(path) refused this process: \(problem)."
        return Self(code: .serverRefused, path: path, cause: problem, description: text)
    }

    static func notPosted(
        name: String, at location: SourceLocation, problem: String, timeout: Duration
    ) -> DistributedError {
        DistributedError(
            code: .notPosted, cause: problem,
            description: "\(shortened(name)), posted at \(location), was not posted within \(timeout): \(problem).")
    }

    /// - Parameter request: what the server was asked for.
    package static func notAnswered(_ request: String, path: String, timeout: Duration) -> DistributedError {
        let problem = "\(request) at \(path). It is busy or stopped: find its process, and continue or end it"
        return DistributedError(
            code: .notAnswered, path: path, cause: problem,
            description: "the server has not answered within \(timeout): \(problem).")
    }

    static let tooManyObservers = DistributedError(
        code: .tooManyObservers,
        description: "this process has \(Wire.observerLimit) observers, and a server allows no more. Remove some, or "
            + "replace several by one whose name is nil: it receives every notification.")
    static let processForked = DistributedError(
        code: .processForked,
        description: "this process was forked from one with a connection, and has none itself. Post and observe in a "
            + "program that it executes (exec), or fork before the center is first used.")
    package static let closed = DistributedError(
        code: .closed, description: "the center was closed. Use another center, or close it later.")
}
