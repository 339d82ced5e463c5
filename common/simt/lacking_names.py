"""Functions of CUDA 13's headers that the executor does not have and that no pattern of unsupported_names.py covers. Each is refused by its
name: without this the compiler would say that it was not declared. test_refusals.py tests that none of them is in include/."""

LACKING = {
    "the CUDA runtime": """
        cudaCreateChannelDescHalf cudaCreateChannelDescHalf1 cudaCreateChannelDescHalf2 cudaCreateChannelDescHalf4 cudaCreateChannelDescNV12
        cudaDestroyExternalMemory cudaDestroyExternalSemaphore cudaDeviceFlushGPUDirectRDMAWrites cudaDeviceGetHostAtomicCapabilities
        cudaDeviceGetNvSciSyncAttributes cudaDeviceGetP2PAtomicCapabilities cudaDeviceGetTexture1DLinearMaxWidth cudaDeviceRegisterAsyncNotification
        cudaDeviceUnregisterAsyncNotification cudaFuncGetName cudaFuncGetParamInfo cudaGetDriverEntryPoint cudaGetDriverEntryPointByVersion
        cudaGetExportTable cudaGetFuncBySymbol cudaGetKernel cudaGetMipmappedArrayLevel cudaGetSurfaceObjectResourceDesc cudaImportExternalMemory
        cudaImportExternalSemaphore cudaKernelSetAttributeForDevice cudaLibraryEnumerateKernels cudaLibraryGetGlobal cudaLibraryGetKernel
        cudaLibraryGetKernelCount cudaLibraryGetManaged cudaLibraryGetUnifiedFunction cudaLibraryLoadData cudaLibraryLoadFromFile cudaLibraryUnload
        cudaLogsCurrent cudaLogsDumpToFile cudaLogsDumpToMemory cudaLogsRegisterCallback cudaLogsUnregisterCallback
        cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardBatchAsync cudaMemGetDefaultMemPool cudaMemGetMemPool cudaMemPoolExportPointer
        cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer cudaMemPrefetchBatchAsync cudaMemSetMemPool
        cudaMemcpy3DBatchAsync cudaMemcpyBatchAsync cudaMipmappedArrayGetMemoryRequirements cudaMipmappedArrayGetSparseProperties
        cudaOccFuncAttributes cudaOccFuncAttributesCheck cudaOccSubPartitionsPerMultiprocessor cudaSignalExternalSemaphoresAsync cudaUserObjectCreate
        cudaUserObjectRelease cudaUserObjectRetain cudaWaitExternalSemaphoresAsync""",
    "the driver API": """
        cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayDestroy cuArrayGetDescriptor cuArrayGetMemoryRequirements cuArrayGetPlane
        cuArrayGetSparseProperties cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState
        cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal
        cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal cuDestroyExternalMemory cuDestroyExternalSemaphore cuDevResourceGenerateDesc
        cuDevSmResourceSplitByCount cuExternalMemoryGetMappedBuffer cuExternalMemoryGetMappedMipmappedArray cuFlushGPUDirectRDMAWrites
        cuGetExportTable cuGetProcAddress cuGetProcAddress_v2 cuGraphAddBatchMemOpNode cuGraphAddChildGraphNode cuGraphAddDependencies
        cuGraphAddEmptyNode cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphAddExternalSemaphoresSignalNode
        cuGraphAddExternalSemaphoresWaitNode cuGraphAddHostNode cuGraphAddKernelNode cuGraphAddMemAllocNode cuGraphAddMemFreeNode cuGraphAddMemcpyNode
        cuGraphAddMemsetNode cuGraphAddNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams cuGraphChildGraphNodeGetGraph cuGraphClone
        cuGraphConditionalHandleCreate cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy cuGraphDestroyNode cuGraphEventRecordNodeGetEvent
        cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent cuGraphExecBatchMemOpNodeSetParams
        cuGraphExecChildGraphNodeSetParams cuGraphExecDestroy cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
        cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExecGetFlags
        cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams
        cuGraphExecNodeSetParams cuGraphExecUpdate cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams
        cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams cuGraphGetEdges cuGraphGetNodes cuGraphGetRootNodes
        cuGraphHostNodeGetParams cuGraphHostNodeSetParams cuGraphInstantiate cuGraphInstantiateWithParams cuGraphInstantiate_v2
        cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute cuGraphKernelNodeGetParams cuGraphKernelNodeSetAttribute
        cuGraphKernelNodeSetParams cuGraphLaunch cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams cuGraphMemcpyNodeGetParams
        cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams cuGraphNodeFindInClone cuGraphNodeGetDependencies
        cuGraphNodeGetDependentNodes cuGraphNodeGetEnabled cuGraphNodeGetType cuGraphNodeSetEnabled cuGraphNodeSetParams cuGraphReleaseUserObject
        cuGraphRemoveDependencies cuGraphRetainUserObject cuGraphUpload cuGraphicsMapResources cuGraphicsResourceGetMappedMipmappedArray
        cuGraphicsResourceGetMappedPointer cuGraphicsResourceSetMapFlags cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources
        cuGraphicsUnregisterResource cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource cuGreenCtxGetId cuGreenCtxRecordEvent
        cuGreenCtxStreamCreate cuGreenCtxWaitEvent cuImportExternalMemory cuImportExternalSemaphore cuIpcCloseMemHandle cuIpcGetEventHandle
        cuIpcGetMemHandle cuIpcOpenEventHandle cuIpcOpenMemHandle cuKernelGetAttribute cuKernelGetFunction cuKernelGetLibrary cuKernelGetName
        cuKernelGetParamInfo cuKernelSetAttribute cuKernelSetCacheConfig cuLaunch cuLibraryEnumerateKernels cuLibraryGetGlobal cuLibraryGetKernel
        cuLibraryGetKernelCount cuLibraryGetManaged cuLibraryGetModule cuLibraryGetUnifiedFunction cuLibraryLoadData cuLibraryLoadFromFile
        cuLibraryUnload cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback cuMemcpy2D cuMemcpy2DAsync
        cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3D cuMemcpy3DAsync cuMemcpy3DAsync_v2 cuMemcpy3DBatchAsync
        cuMemcpy3DBatchAsync_v2 cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpy3D_v2 cuMemcpyAtoA cuMemcpyAtoA_v2 cuMemcpyAtoD cuMemcpyAtoD_v2
        cuMemcpyAtoH cuMemcpyAtoHAsync cuMemcpyAtoHAsync_v2 cuMemcpyAtoH_v2 cuMemcpyBatchAsync cuMemcpyBatchAsync_v2 cuMemcpyDtoA cuMemcpyDtoA_v2
        cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2 cuMemcpyHtoA_v2 cuMemcpyPeer cuMemcpyPeerAsync cuMemsetD2D16 cuMemsetD2D16Async
        cuMemsetD2D16_v2 cuMemsetD2D32 cuMemsetD2D32Async cuMemsetD2D32_v2 cuMemsetD2D8 cuMemsetD2D8Async cuMemsetD2D8_v2 cuMipmappedArrayCreate
        cuMipmappedArrayDestroy cuMipmappedArrayGetLevel cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties
        cuMulticastAddDevice cuMulticastBindAddr cuMulticastBindMem cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind
        cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxActiveClusters
        cuOccupancyMaxPotentialBlockSizeWithFlags cuOccupancyMaxPotentialClusterSize cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti
        cuParamSetv cuPointerGetAttribute cuPointerGetAttributes cuPointerSetAttribute cuSignalExternalSemaphoresAsync cuStreamAddCallback
        cuStreamAttachMemAsync cuStreamBatchMemOp cuStreamBatchMemOp_v2 cuStreamBeginCapture cuStreamBeginCaptureToGraph cuStreamBeginCapture_v2
        cuStreamCopyAttributes cuStreamEndCapture cuStreamGetAttribute cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2 cuStreamGetCaptureInfo_v3
        cuStreamGetCtx cuStreamGetCtx_v2 cuStreamGetDevice cuStreamGetGreenCtx cuStreamGetId cuStreamIsCapturing cuStreamSetAttribute
        cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v2 cuStreamWaitValue32 cuStreamWaitValue32_v2 cuStreamWaitValue64
        cuStreamWaitValue64_v2 cuStreamWriteValue32 cuStreamWriteValue32_v2 cuStreamWriteValue64 cuStreamWriteValue64_v2 cuSurfObjectCreate
        cuSurfObjectDestroy cuSurfObjectGetResourceDesc cuSurfRefGetArray cuSurfRefSetArray cuTensorMapEncodeIm2col cuTensorMapEncodeIm2colWide
        cuTensorMapEncodeTiled cuTensorMapReplaceAddress cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc
        cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc cuTexRefCreate cuTexRefDestroy cuTexRefGetAddress cuTexRefGetAddressMode
        cuTexRefGetArray cuTexRefGetBorderColor cuTexRefGetFilterMode cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy
        cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray cuTexRefSetAddress
        cuTexRefSetAddress2D cuTexRefSetAddress2D_v2 cuTexRefSetAddressMode cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode
        cuTexRefSetFlags cuTexRefSetFormat cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp
        cuTexRefSetMipmappedArray cuThreadExchangeStreamCaptureMode cuUserObjectCreate cuUserObjectRelease cuUserObjectRetain
        cuWaitExternalSemaphoresAsync""",
    "cuRAND": """
        curandCreatePoissonDistribution curandDestroyDistribution curandGenerateBinomial curandGenerateBinomialMethod curandGeneratePoissonMethod
        curandGetDirectionVectors32 curandGetDirectionVectors64 curandGetProperty curandGetScrambleConstants32 curandGetScrambleConstants64
        curandSetQuasiRandomGeneratorDimensions curand_log_normal4_double curand_normal4_double curand_uniform4_double""",
    "cuFFT": """
        cufftGetPlanPropertyInt64 cufftGetProperty cufftGetSizeMany64 cufftResetPlanProperty cufftSetPlanPropertyInt64 cufftXtClearCallback
        cufftXtExec cufftXtExecDescriptor cufftXtExecDescriptorC2C cufftXtExecDescriptorC2R cufftXtExecDescriptorD2Z cufftXtExecDescriptorR2C
        cufftXtExecDescriptorZ2D cufftXtExecDescriptorZ2Z cufftXtFree cufftXtGetSizeMany cufftXtMakePlanMany cufftXtMalloc cufftXtMemcpy
        cufftXtQueryPlan cufftXtSetCallback cufftXtSetCallbackSharedSize cufftXtSetGPUs cufftXtSetJITCallback cufftXtSetWorkArea
        cufftXtSetWorkAreaPolicy""",
    "the functions of kernels": """
        __barrier_sync __barrier_sync_count __clusterDim __clusterDimIsSpecified __clusterGridDimInClusters __clusterIdx __clusterRelativeBlockIdx
        __clusterRelativeBlockRank __clusterSizeInBlocks __cluster_barrier_arrive __cluster_barrier_arrive_relaxed __cluster_barrier_wait
        __cluster_map_shared_multicast __cluster_map_shared_rank __cluster_query_shared_rank __cvta_generic_to_grid_constant
        __cvta_grid_constant_to_generic __isClusterShared __isConstant __isCtaShared __isGlobal __isGridConstant __isLocal __isShared
        __mbarrier_arrive __mbarrier_arrive_and_drop __mbarrier_init __mbarrier_inval __mbarrier_maximum_count __mbarrier_test_wait
        __mbarrier_test_wait_parity __mbarrier_token_pending_count __mbarrier_try_wait __mbarrier_try_wait_parity __nv_associate_access_property
        __nv_associate_access_property_impl __pm0 __pm1 __pm2 __pm3 __threadfence_cluster __u128AtomicCAS __u128AtomicCAS_block __u128AtomicCAS_system
        __u128AtomicExch __u128AtomicExch_block __u128AtomicExch_system""",
    "NVRTC": """
        nvrtcGetLTOIR nvrtcGetLTOIRSize nvrtcGetOptiXIR nvrtcGetOptiXIRSize nvrtcGetPCHCreateStatus nvrtcGetPCHHeapSize nvrtcGetPCHHeapSizeRequired
        nvrtcGetTypeName nvrtcSetFlowCallback nvrtcSetPCHHeapSize""",
    "cuBLASLt": """
        cublasLtLoggerSetCallback cublasLtMatmulAlgoCheck""",
}
OF_NAME = {name: library for library, names in LACKING.items() for name in names.split()}
