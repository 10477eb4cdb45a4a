internal import CDeliveryRecorder
internal import CRecorderInterface
internal import Glibc
public import ThreadedNotifications

/// Records every stage of every delivery of this process to a file.
///
///     try ProcessRecording.start(to: "run.jsonl")
///
/// A program needs no call, and need not link this library, if `notify-demo record -o run.jsonl -- ./my-program` starts
/// it. That preloads a library that records, and names the file in the environment variable
/// `THREADED_NOTIFICATIONS_RECORDING`. The methods of this type then apply to that recording.
/// `Recording` reads the file, and `notify-demo diagnose`, `compare`, `timeline`, `trace` and `stats` show it.
///
/// The recording has a line for each `DeliveryEvent`. A line is in the file as soon as the event has happened, and
/// stays there however the process ends. Only `stop()` and the exit of the process write the last record, `end`.
///
/// A process that forks continues to record. Its child records to a file of the same name and the child's process id.
/// Locks that other threads held during the fork stay locked in the child, so a child of a process with threads should
/// call little before `exec`.
///
/// Threads: every method may be called on any thread. The recording has no thread and no signal handler of its own.
///
/// Order: a stage that follows from another comes after it in the file.
///
/// Cost: each stage formats a line of about 120 bytes on its thread, with a lock, and copies it into the file, the end
/// of which is mapped into memory. If the disk is full, records are lost and counted: in a `lost` record, in the error
/// of `stop()`, and on standard error at exit. If the file is shortened meanwhile, SIGBUS ends the process.
public enum ProcessRecording {
    /// The environment variable that names the file to record to, if the library that records is preloaded.
    ///
    /// A new file can be read and written by its owner only. A file that is already a recording is continued, unless
    /// another process is recording to it: then this process records to a file of the same name and its process id.
    /// Any other file is left unchanged, with an error on standard error. A process with more rights than its user,
    /// such as a set-user-id program, ignores the variable.
    public static let environmentVariable = "THREADED_NOTIFICATIONS_RECORDING"

    /// Starts recording.
    ///
    /// Does nothing while `notify-demo record` records this process.
    ///
    /// - Parameter path: the file, which is created or replaced.
    /// - Throws: `DeliveryError` with the code `recordingFailed` if the file is not a regular file or cannot be
    ///   written, or if a recording that this method started has not been stopped.
    public static func start(to path: String) throws(DeliveryError) {
        if let problem = text({ !recorder.start(path, $0, $1) }) {
            throw .recordingFailed(path: path, problem: problem)
        }
    }

    /// Stops recording, and returns when the file is complete. Does nothing without a recording.
    ///
    /// - Throws: `DeliveryError` with the code `recordingFailed` if some records could not be written.
    public static func stop() throws(DeliveryError) {
        guard let path, let problem = text({ !recorder.stop($0, $1) }) else { return }
        throw .recordingFailed(path: path, problem: problem)
    }

    /// The file of the current recording, or nil.
    public static var path: String? {
        text { recorder.copy_path($0, $1) }
    }

    /// The recorder that was preloaded, or the one that is linked into the program.
    private static var recorder: notification_recorder {
        Recorder.connect(delivery_recorder()).pointee
    }

    /// The string that `write` copies to memory of a size; nil if it returns false.
    private static func text(_ write: (UnsafeMutablePointer<CChar>, Int) -> Bool) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 2 * Int(PATH_MAX)) { memory in
            guard let start = memory.baseAddress, write(start, memory.count) else { return nil }
            return String(cString: start)
        }
    }
}
