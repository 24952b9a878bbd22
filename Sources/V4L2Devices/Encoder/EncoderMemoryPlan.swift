import LinuxIO
import Media

/// The number of an encoder's buffers, chosen to fit into the memory that drivers allocate from.
public struct EncoderMemoryPlan: Hashable, Sendable {
    public let inputCount: Int
    public let outputCount: Int

    /// Free memory of the machine, in kilobytes.
    public struct Available: Hashable, Sendable {
        public let kilobytes: Int
        /// The most that could become free: the kernel keeps file pages in contiguous memory and moves them out on demand.
        public let most: Int
        /// The kernel's name for it.
        public let kind: String

        public init(kilobytes: Int, most: Int? = nil, kind: String) {
            self.kilobytes = kilobytes
            self.most = most ?? kilobytes
            self.kind = kind
        }

        /// Parses the text of /proc/meminfo. If the kernel has reserved contiguous memory, that is the limit.
        public init?(memoryInformation text: String) {
            var values: [String: Int] = [:]
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.count >= 2 { values[String(words[0].dropLast())] = Int(words[1]) }
            }
            if let total = values["CmaTotal"], total > 0, let free = values["CmaFree"] {
                self.init(kilobytes: free, most: total, kind: "contiguous memory (CMA)")
            } else if let free = values["MemAvailable"] {
                self.init(kilobytes: free, kind: "memory")
            } else {
                return nil
            }
        }
    }

    /// From generous to the least that still streams.
    private static let steps = [(inputs: 6, outputs: 8), (4, 6), (3, 4), (2, 3)]
    /// Kept free for the next needs of the camera and the kernel.
    private static let reserve = 4096

    /// The plans that may fit, most generous first. The kernel decides on each.
    /// - Parameters:
    ///   - inputSize: bytes of an input buffer; 0 if the inputs are the camera's memory.
    ///   - outputSize: bytes of an output buffer.
    ///   - available: `nil` if unknown; all plans are tried then.
    /// - Throws: `insufficientMemory` if even the smallest plan cannot fit.
    public static func plans(
        inputSize: Int, outputSize: Int, available: Available?, path: String
    ) throws(HardwareEncodingError) -> [EncoderMemoryPlan] {
        func kilobytes(_ step: (inputs: Int, outputs: Int)) -> Int {
            (step.inputs * inputSize + step.outputs * outputSize + 1023) / 1024 + reserve
        }
        func plan(_ step: (inputs: Int, outputs: Int)) -> EncoderMemoryPlan {
            EncoderMemoryPlan(inputCount: step.inputs, outputCount: step.outputs)
        }
        guard let available else { return steps.map(plan) }
        let fitting = steps.filter { kilobytes($0) <= available.kilobytes }
        guard fitting.isEmpty else { return fitting.map(plan) }
        let leanest = steps[steps.count - 1]
        guard kilobytes(leanest) <= available.most else {
            throw .insufficientMemory(
                path: path, neededKilobytes: kilobytes(leanest), availableKilobytes: available.most, of: available.kind)
        }
        return [plan(leanest)]
    }
}
