/// Where the surroundings of a process ask it to record to.
enum RecordingRequest {
    /// Returns the path of the file to record to, or nil if the process is not asked to record.
    ///
    /// A process with more rights than the user who started it does not take a path from its environment: that user
    /// could make it write to files that are not the user's.
    ///
    /// - Parameters:
    ///   - variable: the value of `DeliveryRecording.environmentVariable`.
    ///   - runsWithOthersRights: whether the process is set-user-id, or otherwise has rights that its user does not
    ///     have.
    ///   - copiedFrom: the file that the process recorded to that this one was forked from.
    ///   - process: this process's id.
    static func path(
        variable: String?, runsWithOthersRights: Bool, copiedFrom: String?, process: Int32
    ) -> String? {
        if let copiedFrom { return "\(copiedFrom).\(process)" }
        guard !runsWithOthersRights, let variable, !variable.isEmpty else { return nil }
        return variable
    }
}
