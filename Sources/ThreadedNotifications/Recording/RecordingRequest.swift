/// The file that a process is asked to record to by its environment, or by the process that it was forked from.
enum RecordingRequest {
    /// Returns the path of the file to record to, or nil if the process is not asked to record.
    ///
    /// A process that has more rights than its user takes no path from its environment, because the user could make it
    /// write to files of others.
    ///
    /// - Parameters:
    ///   - variable: the value of `RecordingWriter.environmentVariable`.
    ///   - runsWithOthersRights: whether the process is set-user-id, or has other rights that its user does not have.
    ///   - copiedFrom: the recording of the process that this process was forked from.
    ///   - process: the id of this process.
    static func path(
        variable: String?, runsWithOthersRights: Bool, copiedFrom: String?, process: Int32
    ) -> String? {
        if let copiedFrom { return "\(copiedFrom).\(process)" }
        guard !runsWithOthersRights, let variable, !variable.isEmpty else { return nil }
        return variable
    }
}
