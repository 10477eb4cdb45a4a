import ArgumentParser
import Foundation
import SystemPackage

/// The words that a shell offers for a program that follows --, and for its arguments.
enum ProgramCompletion {
    static let kind = CompletionKind.custom { words, index, prefix in
        let candidates = candidates(after: words.prefix(index), prefix)
        // The script for bash expands them: the name of a file could run a command.
        guard CompletionShell.requesting == .bash else { return candidates }
        return candidates.map { "'\($0.replacing("'", with: "'\\''"))'" }
    }

    /// After --, programs in PATH and files; after the program, files.
    private static func candidates(after words: ArraySlice<String>, _ prefix: String) -> [String] {
        guard words.contains("--") else { return ["--"] }
        let directory = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        var candidates = names(in: directory.isEmpty ? "." : directory).map { directory + $0 }
        if words.last == "--", directory.isEmpty {
            let searched = ProcessInfo.processInfo.environment["PATH"] ?? ""
            for directory in searched.split(separator: ":") {
                candidates += names(in: String(directory)).filter {
                    $0.hasPrefix(prefix) && isProgram("\(directory)/\($0)")
                }
            }
        }
        return Set(candidates).filter { $0.hasPrefix(prefix) }.sorted()
    }

    private static func isProgram(_ path: String) -> Bool {
        (try? FilePath(path).stat().type) == .regular && access(path, X_OK) == 0
    }

    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }
}
