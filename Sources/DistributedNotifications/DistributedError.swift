public import Foundation

/// Why something could not be posted, observed or served: what failed, on what, why, and what to do.
public enum DistributedError: Error, Hashable, Sendable {
    /// A notification's name, or an observer's.
    case nameNotUsable(name: String, problem: String)
    /// A notification's object, or an observer's.
    case objectNotUsable(object: String, problem: String)
    /// What cannot be sent as a property list; `path` is where in it, such as `userInfo["sizes"][2]`.
    case userInfoNotUsable(path: String, problem: String)
    /// A file in which a userInfo should be; `place` is where in it, such as "line 3", if the fault has one.
    case propertyListNotReadable(file: String, place: String?, problem: String)
    /// A process has as many observers as a server allows one.
    case tooManyObservers(limit: Int)
    /// The directory or the files in which processes meet their server.
    case placeNotUsable(path: String, problem: String)
    /// There is no server, and none could be started.
    case serverNotStarted(path: String, problem: String)
    /// The server answered that it will not serve this process.
    case serverRefused(path: String, reason: String)
    /// A notification was not handed over within the time allowed.
    case notPosted(name: String, problem: String, after: Duration)
    /// The server did not answer within the time allowed.
    case notAnswered(what: String, after: Duration)
    /// This process is the copy of one that had a connection: it has none, and the thread that reads it is not copied.
    case processForked
    /// The wait would be for the thread that calls.
    case wouldWaitForItself(what: String)
    /// The center was closed.
    case closed
}

extension DistributedError: CustomStringConvertible, LocalizedError {
    /// What `localizedDescription` shows.
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .nameNotUsable(let name, let problem):
            "the name \"\(Self.shortened(name))\" \(problem). A name is 1 to 255 bytes of UTF-8 without NUL."
        case .objectNotUsable(let object, let problem):
            "the object \"\(Self.shortened(object))\" \(problem). An object is up to 1024 bytes of UTF-8 without NUL."
        case .userInfoNotUsable(let path, let problem):
            "\(path) \(problem)."
        case .propertyListNotReadable(let file, let place, let problem):
            "\(file)\(place.map { ", \($0)" } ?? ""): \(problem)."
        case .tooManyObservers(let limit):
            "this process has \(limit) observers, and a server allows no more. Remove some, or observe more with one: "
                + "an observer whose name is nil gets every notification."
        case .placeNotUsable(let path, let problem):
            "cannot use \(path): \(problem)."
        case .serverNotStarted(let path, let problem):
            "no server could be started at \(path): \(problem)."
        case .serverRefused(let path, let reason):
            "the server at \(path) refused this process: \(reason)."
        case .notPosted(let name, let problem, let limit):
            "\(Self.shortened(name)) was not posted within \(limit): \(problem)."
        case .notAnswered(let what, let limit):
            "the server has not answered within \(limit): \(what). It is busy, or stopped: see its process, and continue or end it."
        case .processForked:
            "this process was forked from one that is connected, and has no connection. Post and observe in the program that it "
                + "executes (exec), or fork before the center is first used."
        case .wouldWaitForItself(let what):
            "\(what) would wait for the thread that calls, for ever. Call it on another thread than .postingThread."
        case .closed:
            "the center was closed. Use another, or close it later."
        }
    }

    private static func shortened(_ text: String) -> String {
        text.count <= 60 ? text : "\(text.prefix(59))…"
    }
}
