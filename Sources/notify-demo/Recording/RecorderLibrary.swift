import Foundation

/// The library that records a program in which it is preloaded.
enum RecorderLibrary {
    private static let name = "libnotification-recorder.so"

    /// The environment variable that preloads the library, besides those that are preloaded already.
    ///
    /// - Throws: `CommandError` if the library is not there.
    static func preloading() throws(CommandError) -> (name: String, value: String) {
        let others = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { ":\($0)" } ?? ""
        return ("LD_PRELOAD", try path() + others)
    }

    /// The path of the library: in the directory of the program, where it was built, or in `lib/notify-demo`, where
    /// `install.sh` puts it.
    static func path() throws(CommandError) -> String {
        let program = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let directory = program.resolvingSymlinksInPath().deletingLastPathComponent()
        let candidates = [
            directory.appending(component: name).path,
            directory.deletingLastPathComponent().appending(path: "lib/notify-demo/\(name)").path,
        ]
        guard let found = candidates.first(where: FileManager.default.isReadableFile) else {
            throw CommandError(
                description: "cannot record: \(name) is neither at \(candidates.joined(separator: " nor at ")). "
                    + "Build it with 'swift build --product notification-recorder', or run Scripts/install.sh again.")
        }
        // The dynamic linker separates paths at these characters.
        if found.contains(where: { $0 == ":" || $0 == " " }) {
            throw CommandError(
                description: "cannot record: the path of \(found) has a space or a colon, so that it cannot be "
                    + "preloaded. Move or install notify-demo elsewhere.")
        }
        return found
    }
}
