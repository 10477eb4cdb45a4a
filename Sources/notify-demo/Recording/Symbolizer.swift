import ChildProcesses
import Foundation
import TerminalText

/// Finds the source locations of calls with llvm-symbolizer, which is a part of the Swift toolchain.
struct Symbolizer {
    let path: String

    /// Nil if there is no llvm-symbolizer in `PATH`.
    static var installed: Symbolizer? { ChildProgram.find("llvm-symbolizer").map(Symbolizer.init) }

    /// The keys `file` and `line` of the calls that the symbolizer knows; none if it fails or takes too long.
    ///
    /// - Parameters:
    ///   - calls: addresses as the key `at` of a recording has them: `/usr/bin/program+0x12af`.
    ///   - directory: the paths of files in it are relative to it.
    func sources(of calls: Set<String>, from directory: String, timeout: Duration = .seconds(60)) -> [String: String] {
        let queries = calls.compactMap { call -> String? in
            // Others have escaped characters, and no file.
            guard let plus = call.lastIndex(of: "+"), call.hasPrefix("/"), !call.contains("\\") else { return nil }
            return "\"\(call[..<plus])\" \(call[plus...].dropFirst())\n"
        }
        let program = ChildProgram(
            path: path, arguments: ["--output-style=JSON", "--no-demangle"],
            // It would look for debug information in the network.
            environment: ["DEBUGINFOD_URLS": nil])
        guard !queries.isEmpty,
            let result = try? program.run(input: Array(queries.joined().utf8), timeout: timeout),
            result.end == .exit(0)
        else { return [:] }
        var sources: [String: String] = [:]
        // The output may have other lines, or lack one, so a line is that of the address that it names.
        for line in result.output.split(separator: "\n") {
            guard let answer = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let module = answer["ModuleName"] as? String, let address = answer["Address"] as? String,
                let frames = answer["Symbol"] as? [[String: Any]],
                let location = frames.lazy.compactMap({ Self.location($0, from: directory) }).first
            else { continue }
            sources["\(module)+\(address)"] = location
        }
        return sources
    }

    /// The location of a function, of which the innermost is first. Functions of Foundation are inlined in an optimized
    /// program. The name of a function does not tell, because an extension of a Foundation type begins like it.
    private static func location(_ frame: [String: Any], from directory: String) -> String? {
        guard let file = frame["FileName"] as? String, let line = frame["Line"] as? Int, line > 0,
            !file.contains(#/^$|/swift-(corelibs-)?foundation//#)
        else { return nil }
        return "\"file\":\(name(file, from: directory)),\"line\":\(line)"
    }

    /// A file as `#fileID` has it, if it is in a target of a Swift package; or with a path relative to the directory,
    /// if it is in it. In JSON.
    private static func name(_ file: String, from directory: String) -> String {
        let parts = file.split(separator: "/")
        var name = String(file.trimmingPrefix(directory + "/"))
        if file.hasSuffix(".swift"), let folder = parts.lastIndex(where: { $0 == "Sources" || $0 == "Tests" }),
            folder + 2 < parts.count
        {
            name = "\(parts[folder + 1])/\(parts[parts.count - 1])"
        }
        return ShownText.quoted(name)
    }
}
