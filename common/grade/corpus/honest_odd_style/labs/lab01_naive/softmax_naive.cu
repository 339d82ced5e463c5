// Expect: pass
//
// Honest: K and R braces, goto, Yoda conditions, Hungarian names, tabs, no newline at the end.

#include "rung.h"
#include <math.h>
#include <float.h>
#define ever ;;

__device__ void	vAdd( float * pfSum , float * pfLost , float fTerm )
{
	float	fCorr = fTerm - *pfLost ;
	float	fNext = *pfSum + fCorr ;
	*pfLost = ( fNext - *pfSum ) - fCorr ;
	*pfSum = fNext ;
}

__device__ float fMax( const float * pfRow , int nCols )
{
	int	iCol = 0 ;
	float	fBest = - FLT_MAX ;
again :
	if ( nCols == iCol ) goto done ;
	fBest = fmaxf( fBest , pfRow [ iCol ] ) ;
	iCol ++ ;
	goto again ;
done :
	return fBest ;
}

__device__ float fScale( const float * pfRow , int nCols , float fBest )
{
	float	fSum = 0.f , fLost = 0.f ;
	int	iCol = 0 ;
	for ( ever )
	{
		if ( iCol == nCols ) break ;
		vAdd( & fSum , & fLost , expf( pfRow [ iCol ++ ] - fBest ) ) ;
	}
	return 0.f < fSum ? 1.f / fSum : fSum ;
}

__global__ void vElement( const float * pfX , float * pfY , int nCols )
{
	int	iCol = blockIdx . y * blockDim . x + threadIdx . x ;
	if ( nCols <= iCol ) return ;
	pfX += ( size_t ) blockIdx . x * nCols , pfY += ( size_t ) blockIdx . x * nCols ;
	float	fBest = fMax( pfX , nCols ) ;
	pfY [ iCol ] = expf( pfX [ iCol ] - fBest ) * fScale( pfX , nCols , fBest ) ;
}

__global__ void vRow( const float * pfX , float * pfY , int nRows , int nCols , bool bSubtract )
{
	int	iRow = blockIdx . x * blockDim . x + threadIdx . x , iCol = 0 ;
	if ( nRows <= iRow ) return ;
	pfX += ( size_t ) iRow * nCols , pfY += ( size_t ) iRow * nCols ;
	float	fBest = bSubtract ? fMax( pfX , nCols ) : 0.f ;
	float	fFactor = fScale( pfX , nCols , fBest ) ;
	while ( iCol < nCols ) pfY [ iCol ] = expf( pfX [ iCol ] - fBest ) * fFactor , iCol ++ ;
}

cudaError_t eElement( const float * pfX , float * pfY , int nRows , int nCols , cudaStream_t s )
{
	if ( ! rung :: valid( pfX , pfY , nRows , nCols ) ) return cudaErrorInvalidValue ;
	if ( 0 == nRows ) return cudaSuccess ;
	vElement <<< dim3( nRows , ( nCols + 63 ) / 64 ) , 64 , 0 , s >>> ( pfX , pfY , nCols ) ;
	return cudaGetLastError( ) ;
}

template < bool bSubtract >
cudaError_t eRow( const float * pfX , float * pfY , int nRows , int nCols , cudaStream_t s )
{
	if ( ! rung :: valid( pfX , pfY , nRows , nCols ) ) return cudaErrorInvalidValue ;
	if ( 0 == nRows ) return cudaSuccess ;
	vRow <<< ( nRows + 63 ) / 64 , 64 , 0 , s >>> ( pfX , pfY , nRows , nCols , bSubtract ) ;
	return cudaGetLastError( ) ;
}

RUNG_PREDICT( { "apart_sectors" , 32 } , { "same_address_sectors" , 1 } , { "per_element_reads" , 2001 } , { "per_row_bytes" , 96000 } , { "per_element_slower" , 64 }, {"per_row_limit", rung::limit::lsu} )
RUNG_EXPORT( rung :: softmax( "per_element" , eElement ) , rung :: softmax( "per_row" , eRow < true > ) , rung :: softmax( "no_max" , eRow < false > ) )