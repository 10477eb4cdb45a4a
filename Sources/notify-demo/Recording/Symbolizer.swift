import ChildProcesses
import Foundation

/// Finds the source locations of calls with llvm-symbolizer, which is a part of the Swift toolchain.
struct Symbolizer {
    let path: String

    /// Nil if there is no llvm-symbolizer in `PATH` or beside `swift`, which is searched in `PATH`.
    ///
    /// - Parameter searchPath: the value of `PATH`.
    init?(searchPath: String? = ProcessInfo.processInfo.environment["PATH"]) {
        let directories = (searchPath ?? "").split(separator: ":").map { URL(filePath: String($0)) }
        func executable(_ name: String, in directories: [URL]) -> URL? {
            directories.map { $0.appending(path: name) }.first { access($0.path, X_OK) == 0 }
        }
        let swift = executable("swift", in: directories)?.resolvingSymlinksInPath().deletingLastPathComponent()
        guard let found = executable("llvm-symbolizer", in: directories + [swift].compactMap(\.self)) else {
            return nil
        }
        path = found.path
    }

    /// The sources of the calls that the symbolizer knows; none if it fails or takes too long.
    ///
    /// - Parameters:
    ///   - calls: addresses as the key `at` of a recording has them: `/usr/bin/program+0x12af`.
    ///   - directory: the paths of files in it are relative to it.
    func sources(
        of calls: some Collection<String>, from directory: String, timeout: Duration = .seconds(60)
    ) -> [String: CallSource] {
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
        var sources: [String: CallSource] = [:]
        // The output may have other lines, or lack one, so a line is that of the address that it names.
        for line in result.output.split(separator: "\n") {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let module = object["ModuleName"] as? String, let address = object["Address"] as? String
            else { continue }
            sources["\(module)+\(address)"] = CallSource(object)?.relative(to: directory)
        }
        return sources
    }
}
