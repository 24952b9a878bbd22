import LinuxIO
import Media

/// How many buffers an encoder gets, so that they fit into the memory that drivers take them from.
public struct EncoderMemoryPlan: Hashable, Sendable {
    public let inputCount: Int
    public let outputCount: Int

    /// What the machine has free, in kilobytes.
    public struct Available: Hashable, Sendable {
        public let kilobytes: Int
        /// What could be free at most: the kernel has files' pages in contiguous memory, and moves them out.
        public let most: Int
        /// The kernel's word for it.
        public let kind: String

        public init(kilobytes: Int, most: Int? = nil, kind: String) {
            self.kilobytes = kilobytes
            self.most = most ?? kilobytes
            self.kind = kind
        }

        /// From the text of /proc/meminfo. Contiguous memory, where the kernel has set some aside, is what limits.
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

    /// From ample to what still streams.
    private static let steps = [(inputs: 6, outputs: 8), (4, 6), (3, 4), (2, 3)]
    /// Kept free for the camera's and the kernel's own next needs.
    private static let reserve = 4096

    /// The plans that may fit, the ample one first. The kernel has the last word on each.
    /// - Parameters:
    ///   - inputSize: bytes of an input buffer; 0 when inputs are the camera's memory.
    ///   - outputSize: bytes of an output buffer.
    ///   - available: `nil` when it is not known: then all are tried.
    /// - Throws: `insufficientMemory` when even the leanest cannot fit.
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
