internal import CLinux
internal import Foundation
internal import Glibc
internal import Synchronization

/// Records every stage of every delivery of this process to a file, for `notify-demo audit`, `diagnose`, `compare`,
/// `timeline`, `trace` and `stats`.
///
///     try DeliveryRecording.start(to: "run.jsonl")
///
/// Without a line of code, the environment variable `THREADED_NOTIFICATIONS_RECORDING` names the file: so
/// `notify-demo record -o run.jsonl -- ./my-program` does.
///
/// What happens: a line is added for each stage that `DeliveryEvent` knows, to memory of 8 MiB, which is written to the
/// file ten times a second or when it is full; at exit; and when the process ends by a signal that it does not handle,
/// as far as that is safe. What a process does that is killed by `SIGKILL` may be lost for the last tenth of a second.
/// Threads: every method may be called on any thread. A background thread writes.
/// Order: a stage that follows from another comes after it in the file. Nothing is reordered.
/// Cost: a line of about 120 bytes for each stage, put together on the thread on which the stage happens, and a lock to
/// add it. If the disk takes no more, records are lost and counted: in a record `lost`, by `stop()`, and at exit on
/// standard error.
/// A process that forks goes on to record itself only; its copy records to a file of the same name and the copy's
/// process id. A copy of a process with threads may do little before it calls exec, on any system: locks that other
/// threads held stay locked. If the stack overflows, what was not written yet is lost.
public enum DeliveryRecording {
    /// The environment variable that names the file to record to.
    ///
    /// A new file is readable and writable by its owner only. If the file is a recording already, this process's
    /// records come after it; if another process is recording to it, they go to a file of the same name and this
    /// process's id. A file that has something else is refused on standard error, and not changed.
    /// A process with rights that its user does not have, such as a set-user-id program, ignores the variable.
    public static let environmentVariable = "THREADED_NOTIFICATIONS_RECORDING"

    /// Begins to record.
    ///
    /// If the environment asked for a recording, that one goes on, and this call changes nothing.
    /// - Parameter path: a file, which is made or replaced.
    /// - Throws: `DeliveryError.recordingFailed` if the file cannot be written, or is no regular file, or a recording
    ///   that was started here is under way.
    public static func start(to path: String) throws(DeliveryError) {
        startIfAsked()
        try control.withLock { control throws(DeliveryError) in
            if let file = control.file {
                if control.isAskedFor { return }
                throw .recordingFailed(path: path, problem: "this process records to \(file.path), and records once")
            }
            control.begin(try RecordFile(try RecordDestination(path, .replace)))
        }
    }

    /// Ends the recording that was started here, or was asked for by the environment; without one it does nothing.
    ///
    /// When it returns, what was recorded is in the file. What happens from now on is not recorded.
    /// - Throws: `DeliveryError.recordingFailed` if not everything could be written.
    public static func stop() throws(DeliveryError) {
        guard let file = control.withLock({ $0.end() }) else { return }
        let (lost, error) = file.finish("stopped")
        if lost > 0 { throw .recordingFailed(path: file.path, problem: problem(lost: lost, error: error)) }
    }

    /// Writes what was recorded so far to the file, and returns when it is there. Without a recording it does nothing.
    public static func flush() {
        control.withLock { $0.file }?.write()
    }

    /// The file that is recorded to, or nil.
    public static var path: String? { control.withLock { $0.file?.path } }

    // MARK: Inside

    private struct Control {
        var file: RecordFile?
        var isAskedFor = false
        /// True if the environment was looked at.
        var hasAsked = false
        /// What the process records to that this one is a copy of.
        var copiedFrom: String?
        var hasHandlers = false

        mutating func begin(_ file: RecordFile) {
            self.file = file
            // Never released: a thread may be recording while another stops. Its memory for lines goes when it ends.
            DeliveryRecording.currentFile.store(
                UInt(bitPattern: Unmanaged.passRetained(file).toOpaque()), ordering: .releasing)
            file.writeInBackground()
            ProcessEnd.set(file)
            if !hasHandlers {
                hasHandlers = true
                ProcessEnd.install()
            }
            DeliveryEvent.setWatched(.byRecording, true)
        }

        mutating func end() -> RecordFile? {
            DeliveryEvent.setWatched(.byRecording, false)
            DeliveryRecording.currentFile.store(0, ordering: .releasing)
            defer { file = nil }
            return file
        }

    }

    private static let control = Locked(Control())
    private static let currentFile = Atomic<UInt>(0)

    static var current: RecordFile? {
        UnsafeRawPointer(bitPattern: currentFile.load(ordering: .acquiring)).map {
            Unmanaged<RecordFile>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Begins to record if the environment says so and nobody looked yet.
    static func startIfAsked() {
        control.withLock { control in
            guard !control.hasAsked else { return }
            control.hasAsked = true
            let asked = RecordingRequest.path(
                variable: getenv(environmentVariable).map { String(cString: $0) },
                runsWithOthersRights: CLinuxRunsWithOthersRights(), copiedFrom: control.copiedFrom, process: getpid())
            if let path = asked {
                do throws(DeliveryError) {
                    let isOwnName = control.copiedFrom != nil
                    control.begin(try RecordFile(try RecordDestination(path, .append, followsLink: !isOwnName)))
                    control.isAskedFor = true
                } catch {
                    say(error.description)
                }
            }
            DeliveryEvent.setWatched(.notAsked, false)
        }
    }

    /// Called when the process exits.
    static func processExits() {
        // Who exits in a signal handler may have interrupted what holds a lock, which then nobody unlocks.
        guard control.lock(nanoseconds: 1_000_000_000) else {
            return ProcessEnd.finish("exit")
        }
        let ended = control.valueWhileLocked.end()
        control.unlock()
        guard let file = ended else { return }
        guard file.canBeLocked else { return ProcessEnd.finish("exit") }
        let (lost, error) = file.finish("exit")
        if lost > 0 {
            say("\(DeliveryError.recordingFailed(path: file.path, problem: problem(lost: lost, error: error)))")
        }
    }

    // MARK: Forking

    /// Takes all locks, so that none of them is held in the child by a thread that the child does not have.
    static func processWillFork() {
        control.lock()
        control.valueWhileLocked.file?.beginFork()
    }

    static func processForked() {
        let file = control.valueWhileLocked.file
        file?.endFork()
        control.unlock()
        file?.append("fork")
    }

    static func processIsCopy() {
        if let file = control.valueWhileLocked.file {
            ProcessEnd.remove(file)
            currentFile.store(0, ordering: .releasing)
            file.endForkInChild()
            control.valueWhileLocked.file = nil
            control.valueWhileLocked.copiedFrom = file.absolutePath
            control.valueWhileLocked.hasAsked = false
            DeliveryEvent.setWatched(.byRecording, false)
            DeliveryEvent.setWatched(.notAsked, true)
        }
        control.unlock()
    }

    private static func problem(lost: UInt64, error: Int32) -> String {
        "\(lost) records could not be written (\(error == 0 ? "the disk is too slow" : String(cString: strerror(error))))"
    }

    /// Reports a problem on standard error, where no caller could catch it.
    private static func say(_ problem: String) {
        let line = Array("ThreadedNotifications: \(problem)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
